// The ledger: a file in the store's directory ("live-logs") that lists the store's write-ahead logs. It is needed because RocksDB does not
// detect that its newest log is missing, and would start without the acknowledged writes in it.
//
// A log is added to the ledger durably before the first write to it, and removed from the ledger before it is deleted.
// The Env of the ledger also reserves the space of logs in advance (reserved_log.hpp), and removes unused space after a crash
// (log_tail.hpp).
//
// Thread-safety: any thread.
// Lifetime:      must exist as long as the database that is opened with env().
// Errors:        if the ledger cannot be written, the creation or deletion of the log fails.
#pragma once

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "backplane/core/status.hpp"

namespace backplane::rocks {

class LogLedger {
 public:
  // Reads the ledger of `directory`. If it does not exist (a new store, or a store of an older version), it is empty. `reserves`: true if
  // the space of new logs is reserved.
  LogLedger(std::string directory, bool reserves);

  // The Env for RocksDB: RocksDB's default Env, extended by the functions above.
  rocksdb::Env* env() const noexcept { return env_.get(); }
  // The first log in the ledger that does not exist; empty: all logs exist.
  std::string missing() const;
  // Removes all logs from the ledger. To be called after the store has been closed, when no log is needed any more.
  Status clear();

  // True until end_recovery(): RocksDB is reading the logs of the former process.
  bool is_recovering() const noexcept { return recovering_.load(); }
  void end_recovery() noexcept { recovering_.store(false); }

  bool reserves() const noexcept { return reserves_; }
  rocksdb::IOStatus add(const std::string& path);
  rocksdb::IOStatus remove(const std::string& path);

 private:
  rocksdb::IOStatus write(const std::set<std::string>& names) const;

  const std::string directory_;
  const bool reserves_;
  mutable std::mutex mutex_;
  std::set<std::string> names_;
  std::unique_ptr<rocksdb::Env> env_;
  std::atomic<bool> recovering_{true};
};

}  // namespace backplane::rocks
