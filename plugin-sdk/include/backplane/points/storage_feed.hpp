// Parts shared by storage backends: the feed of committed events that watches read with cursors, and the table of leases.
//
// Thread-safety: CommitFeed: append() from one thread at a time; all other methods from any thread. LeaseTable: one thread at a time. A
//                CallerRunsScope is used only by the thread that created it.
// Lifetime:      the CommitHistory outlives the CommitFeed. Watches may outlive both if close() has been called.
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

// Reads events older than the events in the feed's memory, for watches that start at an old revision.
class CommitHistory {
 public:
  virtual ~CommitHistory();
  // Returns the events after revision `after` of keys that start with `prefix`, oldest first: about `limit` events, but always all events
  // of a revision. EventBatch::revision is the last revision that the result covers.
  // Errors: kExpired if `after` is compacted.
  virtual Task<Result<EventBatch>> read_history(std::string prefix, Revision after, std::size_t limit) = 0;
};

// An executor that can run posted work on the thread that has posted it, so that no sleeping thread has to be woken. The host's watch
// caches use such an executor.
class CallerRunsExecutor {
 public:
  virtual ~CallerRunsExecutor();
  // Runs the work that the calling thread has posted within its CallerRunsScope. If the executor's thread is running, or has been woken for
  // other work, run_posted() runs nothing, and the executor's thread runs the work.
  virtual void run_posted() noexcept = 0;
};

// While the scope exists, work that this thread posts to a CallerRunsExecutor wakes no thread; the destructor runs that work. The thread
// must hold no lock when the scope ends. Only CommitFeed and implementations of CallerRunsExecutor use it.
class CallerRunsScope {
 public:
  CallerRunsScope() noexcept;
  ~CallerRunsScope();
  CallerRunsScope(const CallerRunsScope&) = delete;
  CallerRunsScope& operator=(const CallerRunsScope&) = delete;

  // The innermost scope of the calling thread; null if it has none.
  static CallerRunsScope* current() noexcept;
  // Returns true if the destructor will call run_posted() of `executor`; false if the scope already has another executor.
  bool accept(CallerRunsExecutor& executor) noexcept;

 private:
  CallerRunsScope* const previous_;
  CallerRunsExecutor* executor_ = nullptr;
};

// Keeps the newest commits in memory, bounded by count and bytes. A watch is a position in this memory and has no queue, so slow watches
// cost no memory. A watch whose next commit is no longer in memory continues from CommitHistory.
//
//   feed.append(events, revision);  // while the store's lock is held, so that the order of commits is kept
//   lock.unlock();
//   feed.wake();                    // resumes watches, which may call the store
class CommitFeed {
 public:
  // Bounds of the commits in memory.
  struct Limits {
    std::size_t max_events = 8192;
    std::size_t max_bytes = 8 * 1024 * 1024;
    std::size_t batch = 1024;  // the maximum of events in one batch, except that a commit is not split
  };
  // `floor`: the store's revision at startup. Events up to `floor` are read from `history`.
  CommitFeed(CommitHistory& history, Revision floor);
  CommitFeed(CommitHistory& history, Revision floor, Limits limits);
  ~CommitFeed();
  CommitFeed(const CommitFeed&) = delete;
  CommitFeed& operator=(const CommitFeed&) = delete;

  // Appends the events of the commits up to `revision`, in order. Resumes no watch. May be called with the store's lock held.
  void append(std::vector<StorageEvent> events, Revision revision);
  // Resumes waiting watches. Call it after append(), without holding the store's lock.
  void wake();
  // Like wake(), but the host's watch caches process the events on this thread, inside the call, unless the thread of their executor is
  // running. For a few events, waking another thread costs more than the processing. Call it on a thread of the backend that has no other
  // work.
  void wake_here();
  // Returns a watch of keys that start with `prefix`, from revision `after` + 1 on.
  Result<std::unique_ptr<StorageWatch>> watch(std::string prefix, Revision after);
  // Ends all watches with kExpired. Idempotent.
  void close();

  struct State;

 private:
  std::shared_ptr<State> state_;
};

// Leases and their keys. Uses a monotonic clock, so a change of the system time expires no lease.
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
  // Binds a key to a lease (attach), or removes the binding (detach). Without effect for an unknown lease.
  void attach(LeaseId id, const std::string& key);
  void detach(LeaseId id, const std::string& key);
  // The earliest expiry of a lease; nullopt if there are no leases.
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

// Checks that all backends share: no key that is written is empty or contains a zero byte, no key is written twice, and the transaction has
// at most 32 MiB. A larger transaction gets etcd's error text. The backend checks that the leases exist.
Status check_txn(const TxnRequest& request);

// Returns the first key after all keys that start with `prefix`: the `end` of a RangeRequest for that prefix.
std::string prefix_end(std::string prefix);

}  // namespace BACKPLANE_API
