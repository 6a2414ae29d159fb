// Records the store's write-ahead logs in a file next to them ("live-logs"): RocksDB does not detect the removal of its newest log, and
// would start without the acknowledged writes in it.
//
// Its files reserve the space of logs in advance (reserved_log.hpp), and remove what a crash has left of it (log_tail.hpp).
//
// A log is added to the ledger durably before the first write to it, and removed from the ledger before it is deleted.
//
// Thread-safety: any thread.
// Lifetime:      outlives the database that is opened with env().
// Errors:        missing() names logs of the ledger that do not exist; if the ledger cannot be written, creating the log fails.
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
  // Reads the ledger of `directory`; a missing ledger is empty (a new store, or one from before ledgers existed). `reserves`: whether the
  // space of new logs is reserved (reserved_log.hpp).
  LogLedger(std::string directory, bool reserves);

  // The Env for RocksDB: the default one, which also updates the ledger.
  rocksdb::Env* env() const noexcept { return env_.get(); }
  // The first log of the ledger that is not in the directory; empty: all are there.
  std::string missing() const;
  // Clears the ledger: the store has been closed, so no log is needed any more.
  Status clear();

  // True from construction on, false after end_recovery(): RocksDB reads the logs of the former process.
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
