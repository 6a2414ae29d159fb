// Commits transactions on a thread, the only one that writes: takes all waiting transactions, evaluates them in order, writes them in one
// batch with one fsync, and then completes them.  The number of durable writes per second depends on this grouping, not on RocksDB.
//
// Thread-safety: submit(), committed() and health() from any thread; load_leases(), start() and stop() from one thread.
// Lifetime:      the database, the reader and the feed must exist until stop() has returned.
// Errors:        if a write fails, all transactions of the batch fail. Their changes do not become visible, unless recovery finds them on
//                the disk (reload()).
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
  std::chrono::seconds lease_ttl{0};  // greater than 0: grants a lease, and ignores `request`
  Revision raise_to = 0;              // greater than 0: raises the revision, and ignores `request`
  Promise<Result<TxnResult>> done;    // for a lease, TxnResult::revision is the ID of the lease
};

class Batch;
class Reader;

class Writer {
 public:
  // `feed` receives the events of a batch after the batch is durable, and before its transactions are completed.
  Writer(Database& database, const Reader& reader, Revision revision, bool sync, CommitFeed& feed);
  ~Writer();

  Status load_leases();
  void start();
  // Refuses new transactions, completes those that were accepted, and joins the thread.  Idempotent.
  void stop();

  // Errors: kServiceUnavailable if stopped or if the queue is full.
  Status submit(Pending pending);
  Revision committed() const noexcept { return committed_.load(std::memory_order_acquire); }
  // The error of the last write or recovery; success: the store accepts writes.  If there is an error, the call also makes the writer's
  // thread try to recover. So a store that temporarily lacked file descriptors or disk space recovers without a restart and without a write
  // of a client.
  Status health();

 private:
  void run();
  std::vector<Pending> take();
  std::optional<LeaseTable::Time> next_due() const;
  void merge_when_due();
  void write(std::vector<Pending> group);
  // Wakes the watches of the feed. If there are `few` events and no transaction waits, this thread also runs the update of the caches
  // (CommitFeed::wake_here()).
  void wake_watches(bool few);
  void decide(Pending& pending, Batch& batch, Result<TxnResult>& answer);
  void decide_txn(const TxnRequest& request, Batch& batch, Result<TxnResult>& answer);
  void apply(const TxnRequest& request, Batch& batch, TxnResult& result, Result<TxnResult>& answer);
  void move_lease(Batch& batch, const std::string& key, LeaseId lease);
  void grant(std::chrono::seconds ttl, Batch& batch, Result<TxnResult>& answer);
  void raise(Revision revision, Batch& batch, Result<TxnResult>& answer);
  void expire_leases(Batch& batch);
  void count_written(std::size_t bytes);
  // If the store is idle, releases the memory of recent writes.
  void write_out_if_idle();
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

  mutable std::mutex mutex_;  // guards queue_, stopping_, recovery_wanted_ and health_
  std::condition_variable work_;
  std::vector<Pending> queue_;
  bool stopping_ = false;
  bool recovery_wanted_ = false;
  Status health_;

  // The members below, except thread_, are used by the writer's thread only, or before start().
  Revision revision_;  // the newest assigned revision
  LeaseTable leases_;
  std::optional<LeaseTable::Time> merge_at_;  // nullopt: compaction is already enabled
  std::optional<LeaseTable::Time> look_at_;   // the next write_out_if_idle(); nullopt: nothing written since the last one
  std::size_t written_ = 0;                   // the number of bytes written since the last write_out_if_idle()
  LeaseId last_lease_ = 0;
  std::thread thread_;
};

}  // namespace backplane::rocks
