// The only writing thread: takes all waiting transactions, evaluates them in order, writes them in one batch with one fsync, and then
// completes them.  This grouping, not RocksDB, determines the number of durable writes per second.
//
// Thread-safety: submit(), grant() and the accessors from any thread.
// Lifetime:      the database and the feed outlive stop(); stop() finishes what was accepted.
// Errors:        a failed write fails every transaction of its batch; none of them is visible as long as this process runs.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "backplane/points/storage.hpp"
#include "backplane/points/storage_feed.hpp"
#include "database.hpp"

namespace backplane::rocks {

struct Pending {
  TxnRequest request;
  std::chrono::seconds lease_ttl{0};  // above 0: grants a lease instead
  Revision raise_to = 0;              // above 0: raises the revision instead
  Promise<Result<TxnResult>> done;    // a granted lease's id is in `revision`
};

class Batch;
class Reader;

class Writer {
 public:
  // `feed` receives the events of a batch after it is durable and before its writes return.
  Writer(Database& database, const Reader& reader, Revision revision, bool sync, CommitFeed& feed);
  ~Writer();

  Status load_leases();
  void start();
  // Refuses new work, finishes what was accepted, joins the thread.  Idempotent.
  void stop();

  // Errors: kServiceUnavailable if stopped or if the queue is full.
  Status submit(Pending pending);
  Revision committed() const noexcept { return committed_.load(std::memory_order_acquire); }
  // The newest write error; ok when the store accepts writes again.  An error makes the writer's thread try to resume, so that a store
  // that temporarily lacked descriptors or disk space recovers without a restart and without a client's write.
  Status health();

 private:
  void run();
  std::vector<Pending> take();
  std::optional<LeaseTable::Time> next_due() const;
  void merge_when_due();
  void write(std::vector<Pending> group);
  // Resumes the watches of the feed; the caches' on this thread if they have `few` events to read and no write waits.
  void wake_watches(bool few);
  void decide(Pending& pending, Batch& batch, Result<TxnResult>& answer);
  void decide_txn(const TxnRequest& request, Batch& batch, Result<TxnResult>& answer);
  void apply(const TxnRequest& request, Batch& batch, TxnResult& result, Result<TxnResult>& answer);
  void move_lease(Batch& batch, const std::string& key, LeaseId lease);
  void grant(std::chrono::seconds ttl, Batch& batch, Result<TxnResult>& answer);
  void raise(Revision revision, Batch& batch, Result<TxnResult>& answer);
  void expire_leases(Batch& batch);
  void count_written(std::size_t bytes);
  // An idle store releases the memory of its recent writes.
  void write_out_when_quiet();
  void set_health(Status status);
  Status newest_health() const;
  void recover();
  Status reload();
  void refuse(std::vector<Pending> group);

  Database& database_;
  const Reader& reader_;
  const bool sync_;
  CommitFeed& feed_;
  std::atomic<Revision> committed_;

  mutable std::mutex mutex_;  // queue_, stopping_, recovery_wanted_, health_
  std::condition_variable work_;
  std::vector<Pending> queue_;
  bool stopping_ = false;
  bool recovery_wanted_ = false;
  Status health_;

  // Writer thread only.
  Revision revision_;  // the newest assigned revision
  LeaseTable leases_;
  std::optional<LeaseTable::Time> merge_at_;  // nullopt: compaction is already enabled
  std::optional<LeaseTable::Time> look_at_;   // next check of the data to flush; nullopt: no write since the last check
  std::size_t written_ = 0;                   // bytes written since then
  LeaseId last_lease_ = 0;
  std::thread thread_;
};

}  // namespace backplane::rocks
