// Parts shared by storage backends: the feed of committed events that watches read with cursors, and the table of leases.
//
// Thread-safety: CommitFeed: append() from one thread at a time, everything else from any thread. LeaseTable: one thread at a time.
//                A CallerRunsScope belongs to the thread that created it.
// Lifetime:      the CommitHistory outlives the feed. Watches may outlive both after close().
// Errors:        kExpired if the history that a watch needs is gone or the feed is closed.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "backplane/core/visibility.hpp"
#include "backplane/points/storage.hpp"

namespace backplane BACKPLANE_API {

// Reads events older than the feed's window, for watches that start at an old revision.
class CommitHistory {
 public:
  virtual ~CommitHistory();
  // Events after revision `after` of keys that start with `prefix`, oldest first: about `limit` events, never part of a revision. The
  // batch's revision is the last one covered. Errors: kExpired if `after` is compacted.
  virtual Task<Result<EventBatch>> read_history(std::string prefix, Revision after, std::size_t limit) = 0;
};

// An executor that lets the thread that posts work run it, so that no sleeping thread has to be woken: the executor of the host's caches.
class CallerRunsExecutor {
 public:
  virtual ~CallerRunsExecutor();
  // Runs what the calling thread has posted within its CallerRunsScope. Runs nothing if the executor's thread is running or has been
  // woken for other work: that thread then runs it.
  virtual void run_posted() noexcept = 0;
};

// While it exists, work that this thread posts to a CallerRunsExecutor wakes no thread; the destructor runs it. The thread holds no lock
// when the scope ends. For CommitFeed and for implementations of CallerRunsExecutor.
class CallerRunsScope {
 public:
  CallerRunsScope() noexcept;
  ~CallerRunsScope();
  CallerRunsScope(const CallerRunsScope&) = delete;
  CallerRunsScope& operator=(const CallerRunsScope&) = delete;

  // The scope of the calling thread; null without one.
  static CallerRunsScope* current() noexcept;
  // True: the destructor calls run_posted() of `executor`. False: the scope already has another executor.
  bool accept(CallerRunsExecutor& executor) noexcept;

 private:
  CallerRunsScope* const previous_;
  CallerRunsExecutor* executor_ = nullptr;
};

// The newest commits in memory, bounded by count and bytes. A watch is a cursor into this window and has no queue, so slow watches cost
// no memory; one that falls out of the window continues from CommitHistory.
//
//   feed.append(events, revision);  // with the store's lock: keeps the order of commits
//   lock.unlock();
//   feed.wake();                    // resumes watches, which may call back into the store
class CommitFeed {
 public:
  // Bounds of the window.
  struct Limits {
    std::size_t max_events = 8192;
    std::size_t max_bytes = 8 * 1024 * 1024;
    std::size_t batch = 1024;  // most events in one batch
  };
  // `floor`: the store's revision at startup; older events are read from `history`.
  CommitFeed(CommitHistory& history, Revision floor);
  CommitFeed(CommitHistory& history, Revision floor, Limits limits);
  ~CommitFeed();
  CommitFeed(const CommitFeed&) = delete;
  CommitFeed& operator=(const CommitFeed&) = delete;

  // Appends the events of the commits up to `revision`, in order, without resuming watches. May be called with the store's lock held.
  void append(std::vector<StorageEvent> events, Revision revision);
  // Resumes waiting watches. Call it after append(), without the store's lock.
  void wake();
  // The same, but watches of the host's caches continue on this thread, inside the call, unless the thread of their executor is running.
  // Waking another thread costs more than their work for a few events. For a thread of the backend that has nothing else to do.
  void wake_here();
  // A watch of keys that start with `prefix`, from revision `after` + 1 on.
  Result<std::unique_ptr<StorageWatch>> watch(std::string prefix, Revision after);
  // Ends all watches with kExpired. Idempotent.
  void close();

  struct State;

 private:
  std::shared_ptr<State> state_;
};

// Keys by lease. Uses a monotonic clock: a change of the system time expires no lease.
//
//   for (const LeaseTable::Due& due : leases.take_due(now)) remove(due.keys);
class LeaseTable {
 public:
  using Clock = std::chrono::steady_clock;
  using Time = Clock::time_point;
  // An expired lease and its keys.
  struct Due {
    LeaseId id = 0;
    std::vector<std::string> keys;
  };

  // Adds a lease.
  void grant(LeaseId id, Time expires);
  bool has(LeaseId id) const { return leases_.contains(id); }
  // Binds a key to a lease, or removes that binding.
  void attach(LeaseId id, const std::string& key);
  void detach(LeaseId id, const std::string& key);
  // The earliest expiry; nullopt without leases.
  std::optional<Time> next_expiry() const;
  // Removes and returns the leases that have expired by `now`.
  std::vector<Due> take_due(Time now);

 private:
  struct Lease {
    Time expires;
    std::set<std::string> keys;
  };
  std::map<LeaseId, Lease> leases_;
  std::set<std::pair<Time, LeaseId>> by_expiry_;
};

// The checks common to all backends, with etcd's error texts: no empty key, no key written twice, at most 32 MiB in one transaction. The
// backend checks that the leases exist.
Status check_txn(const TxnRequest& request);

// The first key after all keys that start with `prefix`: the `end` of a RangeRequest for the prefix.
std::string prefix_end(std::string prefix);

}  // namespace BACKPLANE_API
