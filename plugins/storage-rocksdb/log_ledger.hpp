// Records the store's write-ahead logs in a file next to them ("live-logs"): RocksDB does not detect the removal of its newest log, and
// would start without the acknowledged writes in it.
//
// A log is added to the ledger durably before the first write to it, and removed from the ledger before it is deleted.
//
// Thread-safety: any thread.
// Lifetime:      outlives the database that is opened with env().
// Errors:        missing() names logs of the ledger that do not exist; if the ledger cannot be written, creating the log fails.
#pragma once

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "backplane/core/status.hpp"

namespace backplane::rocks {

class LogLedger {
 public:
  // Reads the ledger of `directory`; a missing ledger is empty (a new store, or one from before ledgers existed).
  explicit LogLedger(std::string directory);

  // The Env for RocksDB: the default one, which also updates the ledger.
  rocksdb::Env* env() const noexcept { return env_.get(); }
  // The first log of the ledger that is not in the directory; empty: all are there.
  std::string missing() const;
  // Clears the ledger: the store has been closed, so no log is needed any more.
  Status clear();

  rocksdb::IOStatus add(const std::string& path);
  rocksdb::IOStatus remove(const std::string& path);

 private:
  rocksdb::IOStatus write(const std::set<std::string>& names) const;

  const std::string directory_;
  mutable std::mutex mutex_;
  std::set<std::string> names_;
  std::unique_ptr<rocksdb::Env> env_;
};

}  // namespace backplane::rocks
