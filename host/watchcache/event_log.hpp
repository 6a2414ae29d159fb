// The recent changes of one resource: append-only, bounded by count and by bytes in proportion to the objects' size.  A watcher is a cursor
// (a number) into it.
//
// A waiter names its topic: a change wakes the waiters of its topics, and costs nothing for the others; their cursors skip it.
// If very many watchers of one loop wait for the same topic, they are woken in rounds: events accumulate between two rounds, so that each
// watcher receives several at once and the loop has time for other work.
// Thread-safety: append(), reset() and tick() by one thread, the pump; everything else from any thread.  The lock is held for pointer
//                copies only.
// Lifetime:      records of read() are valid as long as the Slice. A log that delays wakes is held by a shared_ptr. A waiter with bookmarks
//                is destroyed before its log.
// Errors:        a cursor that points before the first event kept reads kLagged.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <coroutine>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "backplane/core/object.hpp"
#include "backplane/rest/roles.hpp"
#include "watchcache/summary.hpp"

namespace backplane {

struct LogRecord {
  WatchEvent::Type type = WatchEvent::Type::kAdded;  // for a watcher without selectors
  Revision revision = 0;
  ObjectRef object;    // kDeleted: the last state, at the deletion's revision
  ObjectRef previous;  // null when the object is new
};

// The condition of a waiter: changes of objects that have, or had, this term.
struct Topic {
  enum class Kind : unsigned char { kName, kNamespace, kLabel, kField };
  Kind kind = Kind::kName;
  Term term = 0;
};

class EventLog : public std::enable_shared_from_this<EventLog> {
 public:
  struct Limits {
    std::size_t max_events = 20'000;
    // Limits for the bytes of superseded objects that only the log holds: a share (1/kShare) of the size of the resource's objects, but at
    // least and at most these.
    std::size_t min_bytes = 8 * 1024 * 1024;
    std::size_t max_bytes = 64 * 1024 * 1024;
  };
  static constexpr std::size_t kShare = 4;
  using Clock = std::chrono::steady_clock;
  // Receives the time at which tick() is to be called next, each time it becomes earlier.  Called under the log's lock.
  using DueCallback = std::function<void(Clock::time_point due)>;

  explicit EventLog(DueCallback on_due = {}) : EventLog(Limits{}, std::move(on_due)) {}
  explicit EventLog(Limits limits, DueCallback on_due = {}) : limits_(limits), on_due_(std::move(on_due)) {}

  // Drops all records: the next read of an earlier cursor is kLagged.  Records of events after `floor` will follow.
  void reset(Revision floor);
  // Adds records, in order, and resumes the waiters: one post for each executor.  `live_bytes`: of the resource's objects.
  void append(std::vector<LogRecord> records, std::size_t live_bytes = 0);
  // Ends every wait, now and later.
  void close();

  // The cursor after all records up to `revision`; nullopt: the log no longer has that revision.
  std::optional<std::uint64_t> cursor_after(Revision revision) const;
  // Cursors start at this revision or later.
  Revision floor() const;
  std::size_t size() const;

  struct Segment;
  // Records from a cursor on, without copying them.
  struct Slice {
    enum class State : unsigned char { kRecords, kEmpty, kLagged, kClosed };
    State state = State::kEmpty;
    std::uint64_t next = 0;  // the cursor after this slice
    std::array<std::shared_ptr<const Segment>, 2> segments;
    std::array<std::span<const LogRecord>, 2> records;
  };
  Slice read(std::uint64_t cursor) const;

  // A watcher that waits for events after a cursor.  Owned by the watch; used by one wait at a time.
  struct Waiter {
    Waiter() = default;
    ~Waiter();
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;

    bool wants_bookmarks = false;
    Clock::time_point bookmark_due = Clock::time_point::max();
    std::optional<Topic> topic;  // nullopt: all changes

   private:
    friend class EventLog;
    std::coroutine_handle<> handle;
    Executor* executor = nullptr;
    std::uint64_t cursor = 0;
    bool waiting = false;
    std::size_t at = 0;  // index in its list
    bool cancelled = false;
    EventLog* log = nullptr;  // the log in which bookmark_due is or was registered
    std::optional<Clock::time_point> listed;
  };
  // co_await: resumes when there are records after `cursor` that may concern the waiter, a bookmark is due, or the wait was cancelled or
  // the log closed.  Returns the cursor to continue from: no record before it concerns the waiter.
  class Wait {
   public:
    Wait(EventLog& log, Waiter& waiter, std::uint64_t cursor) : log_(log), waiter_(waiter), cursor_(cursor) {}
    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> caller) { return log_.enlist(waiter_, cursor_, caller); }
    std::uint64_t await_resume() const noexcept { return waiter_.cursor; }

   private:
    EventLog& log_;
    Waiter& waiter_;
    std::uint64_t cursor_;
  };
  Wait wait(Waiter& waiter, std::uint64_t cursor) { return Wait(*this, waiter, cursor); }
  // Resumes the waiter; its later waits return at once.
  void cancel(Waiter& waiter);
  // Resumes waiters whose bookmark is due; costs nothing for the others.
  void tick(Clock::time_point now);
  // The time at which tick() must be called next; nullopt: no waiter has bookmarks.
  std::optional<Clock::time_point> next_due() const;

 private:
  using Waiters = std::vector<Waiter*>;
  // The term that waiters wait for; nullopt: they wait for all events.
  using Place = std::optional<Term>;
  static constexpr std::uint64_t kNothing = ~std::uint64_t{0};
  // The waiters of one executor that wait for the same topic.
  struct Group {
    // kCalled: the round has been posted before it was due.
    enum class State : unsigned char { kQuiet, kGathering, kCalled, kTelling };
    Executor* executor = nullptr;
    Waiters waiters;
    State state = State::kQuiet;
    std::uint64_t round = 0;
    // The range of the records that have not been delivered to the waiters.
    std::uint64_t first = kNothing;
    std::uint64_t end = 0;
    std::size_t written = 0;        // value of EventLog::written_ when the first of these records arrived
    Clock::time_point rests_until;  // no round before this time, so that rounds use only a part of the loop's time
  };
  using Groups = std::vector<Group>;
  // Waiters that have been taken out of their lists, to be resumed without the lock.
  struct Wake {
    Executor* executor = nullptr;
    Waiters waiters;
  };
  using Wakes = std::vector<Wake>;
  // The waiters of a round in progress; a limited number is resumed in each turn of their loop.
  struct Round {
    std::shared_ptr<EventLog> log;
    Place place;
    Executor* executor = nullptr;
    Waiters waiters;
    std::size_t told = 0;
    Clock::time_point begun;
  };

  bool enlist(Waiter& waiter, std::uint64_t cursor, std::coroutine_handle<> caller);
  Groups& groups_of(const Waiter& waiter);
  static Group& group_of(Groups& groups, Executor* executor);
  Group* find_group(const Place& place, Executor* executor);
  void forget_if_empty(const Place& place);
  // Moves a waiter from its list to the waiters that will be resumed.
  void take(Group& group, Waiter& waiter, Wakes& wakes);
  // Takes all waiters for which there are events that they have not received.
  void take_concerned(Group& group, Wakes& wakes);
  void take_everybody(Wakes& wakes);
  // Wakes waiters: records from `from` on concern all of them.
  void wake(Groups& groups, const Place& place, std::uint64_t from, Wakes& wakes);
  void wake_topics(const std::vector<Topic>& touched, std::uint64_t from, Wakes& wakes);
  void wake_all_topics(std::uint64_t from, Wakes& wakes);
  void gather(Group& group, const Place& place);
  void call(Group& group, const Place& place);
  bool gathered_enough(const Group& group) const;
  void begin_round(const Place& place, Executor* executor, std::uint64_t number);
  static void tell(std::shared_ptr<Round> round);
  void end_round(const Round& round);
  static void resume(Wakes wakes);
  void trim(std::size_t max_bytes, std::vector<std::shared_ptr<Segment>>& dropped);
  // Registers the time of the waiter's next bookmark, or removes it.
  void list_bookmark(Waiter& waiter);
  void unlist_bookmark(Waiter& waiter);

  const Limits limits_;
  const DueCallback on_due_;
  mutable std::mutex mutex_;
  // No deques: an empty one takes half a kilobyte, and there is a log for each type.
  std::vector<std::shared_ptr<Segment>> segments_;
  std::uint64_t first_ = 0;  // cursor of the first record kept; a multiple of the segment size
  std::uint64_t end_ = 0;    // cursor after the last record
  Revision floor_ = 0;
  std::size_t bytes_ = 0;
  bool closed_ = false;
  std::size_t written_ = 0;  // total bytes of all appended records
  Groups everything_;
  std::unordered_map<Term, Groups> by_topic_;
  std::array<std::atomic<std::size_t>, 4> topic_waiters_{};  // the number of waiters by Topic::Kind
  // The waiters by the time of their next bookmark. A waiter stays registered while it does not wait, because bookmarks are rarer than
  // events.
  std::set<std::pair<Clock::time_point, Waiter*>> bookmarks_;
};

}  // namespace backplane
