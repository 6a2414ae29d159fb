// The recent changes of one resource: append-only, bounded by count and by bytes in proportion to what there is.  A watcher is a cursor (a
// number) into it.
//
// Who waits says what he waits for: a change wakes those whom it may concern, and costs nothing for the others; their cursors pass over it.
// Who waits for everything is woken at most so often that a loop with very many of them has time for other work: events gather meanwhile.
// Thread-safety: append(), reset() and tick() by one thread, the pump; everything else from any thread.  The lock is held for pointer
//                copies only.
// Lifetime:      what read() hands out stays valid while it is held.  A log that delays wakes is held by a shared_ptr.  A waiter that wants
//                bookmarks goes before its log.
// Errors:        a cursor that points before the first event kept reads kLagged.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <coroutine>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "backplane/object.hpp"
#include "backplane/rest.hpp"
#include "watchcache/summary.hpp"

namespace backplane {

struct LogRecord {
  WatchEvent::Type type = WatchEvent::Type::kAdded;  // for a watcher without selectors
  Revision revision = 0;
  ObjectRef object;    // kDeleted: the last state, at the deletion's revision
  ObjectRef previous;  // null when the object is new
};

// What somebody waits for: changes of objects that have, or had, this.
struct Topic {
  enum class Kind : unsigned char { kName, kNamespace, kLabel, kField };
  Kind kind = Kind::kName;
  Term term = 0;
};

class EventLog : public std::enable_shared_from_this<EventLog> {
 public:
  struct Limits {
    std::size_t max_events = 20'000;
    // Of superseded objects that nothing but the log may hold: a share of what the resource's objects take, between these.
    std::size_t min_bytes = 8 * 1024 * 1024;
    std::size_t max_bytes = 64 * 1024 * 1024;
  };
  static constexpr std::size_t kShare = 4;
  using Clock = std::chrono::steady_clock;
  // Hears of the time at which tick() is to be called next, whenever that has become earlier.  Called under the log's lock.
  using DueCallback = std::function<void(Clock::time_point due)>;

  explicit EventLog(DueCallback on_due = {}) : EventLog(Limits{}, std::move(on_due)) {}
  explicit EventLog(Limits limits, DueCallback on_due = {}) : limits_(limits), on_due_(std::move(on_due)) {}

  // Forgets everything: watchers of before lag.  Events after `floor` will follow.
  void reset(Revision floor);
  // Adds records, in order, and resumes who waits: one post for each executor.  `live_bytes`: of the resource's objects.
  void append(std::vector<LogRecord> records, std::size_t live_bytes = 0);
  // Ends every wait, now and later.
  void close();

  // The cursor behind everything up to `revision`; nothing when the log no longer reaches back so far.
  std::optional<std::uint64_t> cursor_after(Revision revision) const;
  // Cursors start at this revision or later.
  Revision floor() const;
  std::size_t size() const;

  struct Segment;
  // Records from a cursor on, without copying them.
  struct Slice {
    enum class State : unsigned char { kRecords, kEmpty, kLagged, kClosed };
    State state = State::kEmpty;
    std::uint64_t next = 0;  // the cursor behind this slice
    std::array<std::shared_ptr<const Segment>, 2> segments;
    std::array<std::span<const LogRecord>, 2> records;
  };
  Slice read(std::uint64_t cursor) const;

  // One who waits for events behind a cursor.  Kept by the watcher; used by one wait at a time.
  struct Waiter {
    Waiter() = default;
    ~Waiter();
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;

    bool wants_bookmarks = false;
    Clock::time_point bookmark_due = Clock::time_point::max();
    std::optional<Topic> topic;  // nothing: everything

   private:
    friend class EventLog;
    std::coroutine_handle<> handle;
    Executor* executor = nullptr;
    std::uint64_t cursor = 0;
    bool waiting = false;
    std::size_t at = 0;  // in its list
    bool cancelled = false;
    EventLog* log = nullptr;  // that has, or had, it among its bookmarks
    std::optional<Clock::time_point> listed;
  };
  // co_await: resumes when there are records behind `cursor` that may concern the waiter, a bookmark is due, or the wait was cancelled or
  // the log closed.  Gives the cursor to go on with: what lies between is of no concern.
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
  // Resumes the waiter, and lets it never wait again.
  void cancel(Waiter& waiter);
  // Resumes waiters whose bookmark is due; costs nothing for the others.
  void tick(Clock::time_point now);
  // When tick() is to be called next; nothing when nobody wants bookmarks.
  std::optional<Clock::time_point> next_due() const;

 private:
  using Waiters = std::vector<Waiter*>;
  // Those of one executor who wait for everything.
  struct Group {
    Executor* executor = nullptr;
    Waiters waiters;
    bool busy = false;    // events gather for many, or many are being told
    bool missed = false;  // something came since they are being told
  };
  // Waiters that have been taken out of their lists, to be resumed without the lock.
  struct Wake {
    Executor* executor = nullptr;
    Waiters waiters;
  };
  using Wakes = std::vector<Wake>;

  bool enlist(Waiter& waiter, std::uint64_t cursor, std::coroutine_handle<> caller);
  Group& group_of(Executor* executor);
  Waiters& list_of(const Waiter& waiter);
  void take(Waiter& waiter, Wakes& wakes);
  void take_all(Waiters& waiters, Wakes& wakes);
  void take_everybody(Wakes& wakes);
  void take_topics(std::uint64_t from, Wakes& wakes);
  // Those who wait for everything.  Many are told in rounds: events gather for some times as long as a round takes, and each hears of all
  // of them at once.
  void wake_group(Group& group, Wakes& wakes);
  void gather(Group& group);
  void begin_round(Executor* executor);
  void end_round(Executor* executor);
  void take_concerned(const std::vector<Topic>& touched, std::uint64_t from, Wakes& wakes);
  static void resume(Wakes wakes);
  void trim(std::size_t max_bytes, std::vector<std::shared_ptr<Segment>>& dropped);
  // Puts the waiter's bookmark among those that will be due, or takes it out.
  void list_bookmark(Waiter& waiter);
  void unlist_bookmark(Waiter& waiter);

  const Limits limits_;
  const DueCallback on_due_;
  mutable std::mutex mutex_;
  std::deque<std::shared_ptr<Segment>> segments_;
  std::uint64_t first_ = 0;  // cursor of the first record kept; a multiple of the segment size
  std::uint64_t end_ = 0;    // cursor behind the last record
  Revision floor_ = 0;
  std::size_t bytes_ = 0;
  bool closed_ = false;
  std::deque<Group> groups_;
  std::unordered_map<Term, Waiters> by_topic_;
  std::array<std::atomic<std::size_t>, 4> topic_waiters_{};  // of each kind
  // Whose bookmark comes when.  A waiter stays there while it does not wait: bookmarks are rarer than events.
  std::set<std::pair<Clock::time_point, Waiter*>> bookmarks_;
};

}  // namespace backplane
