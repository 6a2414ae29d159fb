// The recent changes of one resource: append-only, bounded by count and bytes.  A watcher is a cursor (a number) into it.
//
// Who waits says what he waits for: a change wakes those whom it may concern, and costs nothing for the others; their cursors pass over it.
// Who waits for everything is woken at most so often that a loop with very many of them has time for other work: events gather meanwhile.
// Thread-safety: append(), reset() and tick() by one thread, the pump; everything else from any thread.  The lock is held for pointer
//                copies only.
// Lifetime:      what read() hands out stays valid while it is held.  A log that delays wakes is held by a shared_ptr.
// Errors:        a cursor that points before the first event kept reads kLagged.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <coroutine>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
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
    std::size_t max_bytes = 64 * 1024 * 1024;  // of superseded objects that nothing but the log may hold
  };
  using Clock = std::chrono::steady_clock;

  EventLog() : EventLog(Limits{}) {}
  explicit EventLog(Limits limits) : limits_(limits) {}

  // Forgets everything: watchers of before lag.  Events after `floor` will follow.
  void reset(Revision floor);
  // Adds records, in order, and resumes who waits: one post for each executor.
  void append(std::vector<LogRecord> records);
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
  // Resumes waiters whose bookmark is due.
  void tick(Clock::time_point now);
  // Somebody waits who wants bookmarks.
  bool wants_ticks() const;

 private:
  using Waiters = std::vector<Waiter*>;
  // Those of one executor who wait for everything.
  struct Group {
    Executor* executor = nullptr;
    Waiters waiters;
    Clock::time_point last_wake{};
    bool wake_planned = false;
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
  // Of those who wait for everything: now, or later when they are many and were woken a moment ago.
  void wake_group(Group& group, Wakes& wakes, Clock::time_point now);
  void planned_wake(Executor* executor);
  void take_concerned(const std::vector<Topic>& touched, std::uint64_t from, Wakes& wakes);
  static void resume(Wakes wakes);
  void trim(std::vector<std::shared_ptr<Segment>>& dropped);

  const Limits limits_;
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
  std::size_t bookmark_waiters_ = 0;
};

}  // namespace backplane
