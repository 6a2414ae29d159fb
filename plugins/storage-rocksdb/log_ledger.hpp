// Which write-ahead logs the store has, kept in a file beside them ("live-logs"): RocksDB does not miss a newest log that somebody removed,
// and would start without what was acknowledged in it.
//
// A log is in the ledger, durably, before anything is written to it, and leaves it before it is removed.
//
// Thread-safety: any thread.
// Lifetime:      outlives the database that is opened with env().
// Errors:        missing() names logs of the ledger that are not there; a ledger that cannot be written fails the making of the log.
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
  // Reads the ledger of `directory`; one that is not there is empty (a new store, or one made before there were ledgers).
  explicit LogLedger(std::string directory);

  // The files RocksDB works on: the usual ones, with the ledger kept.
  rocksdb::Env* env() const noexcept { return env_.get(); }
  // The first log of the ledger that is not in the directory; empty: all are there.
  std::string missing() const;
  // Nothing that is still in a log is needed: the store has been closed in good order.
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
