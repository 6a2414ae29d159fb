// The recent changes of one resource: append-only, bounded by count and bytes.  A watcher is a cursor (a number) into it.
//
// Thread-safety: append(), reset() and tick() by one thread, the pump; everything else from any thread.  The lock is held for pointer
// copies only. Lifetime:      what read() hands out stays valid while it is held. Errors:        a cursor that points before the first
// event kept reads kLagged.
#pragma once

#include <array>
#include <chrono>
#include <coroutine>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "backplane/object.hpp"
#include "backplane/rest.hpp"

namespace backplane {

struct LogRecord {
  WatchEvent::Type type = WatchEvent::Type::kAdded;  // for a watcher without selectors
  Revision revision = 0;
  ObjectRef object;    // kDeleted: the last state, at the deletion's revision
  ObjectRef previous;  // null when the object is new
};

class EventLog {
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

   private:
    friend class EventLog;
    std::coroutine_handle<> handle;
    Executor* executor = nullptr;
    bool waiting = false;
    std::size_t group = 0;
    std::size_t at = 0;
    bool cancelled = false;
  };
  // co_await: resumes when there are records behind `cursor`, a bookmark is due, or the wait was cancelled or the log closed.
  class Wait {
   public:
    Wait(EventLog& log, Waiter& waiter, std::uint64_t cursor) : log_(log), waiter_(waiter), cursor_(cursor) {}
    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> caller) { return log_.enlist(waiter_, cursor_, caller); }
    void await_resume() const noexcept {}

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
  struct Group {
    Executor* executor = nullptr;
    std::vector<Waiter*> waiters;
  };
  bool enlist(Waiter& waiter, std::uint64_t cursor, std::coroutine_handle<> caller);
  void delist(Waiter& waiter);
  std::vector<Group> take_waiters();
  static void resume(std::vector<Group> groups);
  void trim(std::vector<std::shared_ptr<Segment>>& dropped);

  const Limits limits_;
  mutable std::mutex mutex_;
  std::deque<std::shared_ptr<Segment>> segments_;
  std::uint64_t first_ = 0;  // cursor of the first record kept; a multiple of the segment size
  std::uint64_t end_ = 0;    // cursor behind the last record
  Revision floor_ = 0;
  std::size_t bytes_ = 0;
  bool closed_ = false;
  std::vector<Group> groups_;
  std::size_t bookmark_waiters_ = 0;
};

}  // namespace backplane
