// What storage backends share: the tail of committed events that watches follow as cursors, and the table of leases.
//
// Thread-safety: CommitFeed: append() by one thread at a time, everything else from any thread.  LeaseTable: one thread at a time.
// Lifetime:      a feed's history reader outlives the feed; watches may outlive both once close() was called.
// Errors:        kExpired when the history a watch needs is gone or the feed was closed.
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

// Reads events that are older than the feed's tail, for watches that start in the past.
class CommitHistory {
 public:
  virtual ~CommitHistory();
  // The events after `after` for keys starting with `prefix`, oldest first: about `limit`, never a part of a revision.  The batch's
  // revision says how far it reaches.  Errors: kExpired when `after` has been compacted away.
  virtual Task<Result<EventBatch>> read_history(std::string prefix, Revision after, std::size_t limit) = 0;
};

// The newest commits in memory, bounded by count and bytes: those that a watch has not taken yet, and a few more.  A watch is a cursor into
// it, not a queue of its own.
class CommitFeed {
 public:
  struct Limits {
    std::size_t max_events = 8192;
    std::size_t max_bytes = 8 * 1024 * 1024;
    std::size_t batch = 1024;  // events handed out at once
  };
  // `floor`: the newest revision at the start; older events come from `history`.
  CommitFeed(CommitHistory& history, Revision floor);
  CommitFeed(CommitHistory& history, Revision floor, Limits limits);
  ~CommitFeed();
  CommitFeed(const CommitFeed&) = delete;
  CommitFeed& operator=(const CommitFeed&) = delete;

  // Adds what was committed up to `revision`, in order, without waking anybody: may be called with the store's lock held.
  void append(std::vector<StorageEvent> events, Revision revision);
  // Resumes the watches that wait.
  void wake();
  Result<std::unique_ptr<StorageWatch>> watch(std::string prefix, Revision after);
  // Ends all watches with kExpired.
  void close();

  struct State;

 private:
  std::shared_ptr<State> state_;
};

// Which keys go when a lease runs out.  By a clock that only goes on: setting the machine's time ends no lease.
class LeaseTable {
 public:
  using Clock = std::chrono::steady_clock;
  using Time = Clock::time_point;
  struct Due {
    LeaseId id = 0;
    std::vector<std::string> keys;
  };

  void grant(LeaseId id, Time expires);
  bool has(LeaseId id) const { return leases_.contains(id); }
  void attach(LeaseId id, const std::string& key);
  void detach(LeaseId id, const std::string& key);
  // When the next lease runs out.
  std::optional<Time> next_expiry() const;
  // Takes out the leases that have run out by `now`.
  std::vector<Due> take_due(Time now);

 private:
  struct Lease {
    Time expires;
    std::set<std::string> keys;
  };
  std::map<LeaseId, Lease> leases_;
  std::set<std::pair<Time, LeaseId>> by_expiry_;
};

// What every backend refuses: an empty key, a key that is written twice, and more than 1.5 MiB at once, in etcd's words.  A lease that
// does not exist is checked by the backend.
Status check_txn(const TxnRequest& request);

// The first key after all keys that start with `prefix`.
std::string prefix_end(std::string prefix);

}  // namespace BACKPLANE_API
