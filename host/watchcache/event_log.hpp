// The recent changes of one resource. The log is append-only; it is bounded by a number of events, and by bytes in proportion to the size
// of the resource's objects.  The position of a watcher is a cursor: the number of a record.
//
// A Waiter may have a topic. A change wakes only the waiters without a topic and those whose topic it concerns; the cursors of the other
// waiters skip the change.
// If very many watchers of one loop wait for the same topic, they are woken in rounds: events accumulate between two rounds, so that each
// watcher receives several at once and the loop has time for other work.
//
// Thread-safety: only the pump (cache_hub.cpp) calls append(), reset() and tick(); every other method may be called from any thread.
//                Readers hold the lock only while they copy pointers.
// Lifetime:      records of read() are valid as long as the Slice. A log that a shared_ptr does not own wakes without rounds. A waiter with
//                bookmarks is destroyed before its log.
// Errors:        read() of a cursor before the first retained record returns kLagged.
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
  ObjectRef previous;  // null if the object is new
};

// Selects changes of objects that have `term` (summary.hpp) before or after the change.
struct Topic {
  enum class Kind : unsigned char { kName, kNamespace, kLabel, kField };
  Kind kind = Kind::kName;
  Term term = 0;
};

class EventLog : public std::enable_shared_from_this<EventLog> {
 public:
  struct Limits {
    std::size_t max_events = 20'000;
    // The log may hold superseded objects of up to 1/kShare of the size of the resource's objects, but of at least min_bytes and at most
    // max_bytes.
    std::size_t min_bytes = 8 * 1024 * 1024;
    std::size_t max_bytes = 64 * 1024 * 1024;
  };
  static constexpr std::size_t kShare = 4;
  using Clock = std::chrono::steady_clock;
  // Receives the time at which tick() is to be called next, each time it becomes earlier.  Called under the log's lock.
  using DueCallback = std::function<void(Clock::time_point due)>;

  explicit EventLog(DueCallback on_due = {}) : EventLog(Limits{}, std::move(on_due)) {}
  explicit EventLog(Limits limits, DueCallback on_due = {}) : limits_(limits), on_due_(std::move(on_due)) {}

  // Drops all records: read() returns kLagged for all former cursors.  Later records have revisions after `floor`.
  void reset(Revision floor);
  // Adds records, in order, and wakes the waiters that they concern with one post for each executor.  `live_bytes`: the size of the
  // resource's objects.
  void append(std::vector<LogRecord> records, std::size_t live_bytes = 0);
  // Resumes all waiters; later waits return at once.
  void close();

  // The cursor after all records up to `revision`; nullopt: the log no longer has that revision.
  std::optional<std::uint64_t> cursor_after(Revision revision) const;
  // cursor_after() returns a cursor for this revision and later ones.
  Revision floor() const;
  std::size_t size() const;

  struct Segment;
  // Records from a cursor on. A Slice refers to them and does not copy them.
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
    std::size_t at = 0;  // index in Group::waiters
    bool cancelled = false;
    EventLog* log = nullptr;                  // the log in which bookmark_due is or was registered
    std::optional<Clock::time_point> listed;  // the time under which `bookmarks_` has the waiter
  };
  // An awaitable. The coroutine resumes if records after `cursor` may concern the waiter, if a bookmark is due, if the wait was cancelled,
  // or if the log was reset or closed.  Returns the cursor from which the caller continues: no record between `cursor` and it concerns the
  // waiter.
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
  // Resumes the waiters whose bookmark is due, without a visit to the others.
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
    // kQuiet: no round is planned. kGathering: a timer will begin the round. kCalled: the round has been posted before its timer expired.
    // kNotifying: the round resumes waiters.
    enum class State : unsigned char { kQuiet, kGathering, kCalled, kNotifying };
    Executor* executor = nullptr;
    Waiters waiters;
    State state = State::kQuiet;
    std::uint64_t round = 0;
    // The range of the records that have not been delivered to the waiters.
    std::uint64_t first = kNothing;
    std::uint64_t end = 0;
    std::size_t written = 0;          // value of EventLog::written_ when the first of these records arrived
    Clock::time_point next_round_at;  // no round begins before this time, so that rounds use only a part of the loop's time
  };
  using Groups = std::vector<Group>;
  // Waiters of one executor that have been removed from their group, and are resumed after the lock has been released.
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
    std::size_t resumed = 0;  // the number of resumed waiters
    Clock::time_point begun;
  };

  bool enlist(Waiter& waiter, std::uint64_t cursor, std::coroutine_handle<> caller);
  Groups& groups_of(const Waiter& waiter);
  static Group& group_of(Groups& groups, Executor* executor);
  Group* find_group(const Place& place, Executor* executor);
  void forget_if_empty(const Place& place);
  // Moves a waiter from its group to `wakes`.
  void take(Group& group, Waiter& waiter, Wakes& wakes);
  // Moves the waiters that have not received all events of the group to `wakes`.
  void take_concerned(Group& group, Wakes& wakes);
  void take_all_waiters(Wakes& wakes);
  // Moves the waiters of `groups`, which the records from `from` on concern, to `wakes`, or prepares a round for them.
  void wake(Groups& groups, const Place& place, std::uint64_t from, Wakes& wakes);
  void wake_topics(const std::vector<Topic>& touched, std::uint64_t from, Wakes& wakes);
  void wake_all_topics(std::uint64_t from, Wakes& wakes);
  void gather(Group& group, const Place& place);
  void call(Group& group, const Place& place);
  bool gathered_enough(const Group& group) const;
  void begin_round(const Place& place, Executor* executor, std::uint64_t number);
  static void resume_waiters(std::shared_ptr<Round> round);
  void end_round(const Round& round);
  static void resume(Wakes wakes);
  void trim(std::size_t max_bytes, std::vector<std::shared_ptr<Segment>>& dropped);
  // Registers the time of the waiter's next bookmark, or removes it.
  void list_bookmark(Waiter& waiter);
  void unlist_bookmark(Waiter& waiter);

  const Limits limits_;
  const DueCallback on_due_;
  mutable std::mutex mutex_;
  // Not a deque: an empty deque takes half a kilobyte, and each resource has a log.
  std::vector<std::shared_ptr<Segment>> segments_;
  std::uint64_t first_ = 0;  // cursor of the first retained record; a multiple of the segment size
  std::uint64_t end_ = 0;    // cursor after the last record
  Revision floor_ = 0;
  std::size_t bytes_ = 0;
  bool closed_ = false;
  std::size_t written_ = 0;  // total bytes of all appended records
  Groups everything_;
  std::unordered_map<Term, Groups> by_topic_;
  std::array<std::atomic<std::size_t>, 4> topic_waiters_{};  // the number of waiters by Topic::Kind
  // The waiters by the time of their next bookmark. A waiter stays in this set while it does not wait, because events are more frequent
  // than bookmarks.
  std::set<std::pair<Clock::time_point, Waiter*>> bookmarks_;
};

}  // namespace backplane
