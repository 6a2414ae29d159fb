// Opens and closes the RocksDB database with this store's column families and options, and gives access to it.
//
// Thread-safety: every method from any thread; close() and resume() wait until there is no Reading.
// Lifetime:      a Reading keeps the database open. Keep it for a short time, and never across a co_await.
// Errors:        kInternalError with RocksDB's message, or with the name of a missing log.
//                kServiceUnavailable, which names the directory, if another process uses the directory.
#pragma once

#include <rocksdb/cache.h>
#include <rocksdb/db.h>

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>

#include "backplane/core/logger.hpp"
#include "backplane/points/storage.hpp"
#include "log_ledger.hpp"

namespace backplane::rocks {

enum class Family : std::size_t { kDefault, kLive, kOld, kLog };

// The data that is read when the store is opened.
struct Opened {
  Revision revision = 1;
  Revision compacted = 0;
};

class Database {
 public:
  // `logger` (may be null) receives RocksDB's warnings. `durable`: false with --unsafe-no-fsync. Then no log space is reserved, because
  // without fsync a power failure could leave holes in the log.
  static Result<std::unique_ptr<Database>> open(const std::string& directory, backplane::Logger* logger, bool durable = true);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Flushes all data to files, so that the next open() has no log to replay, and releases the directory.  Idempotent.
  Status close();
  // After a failed write, RocksDB refuses all writes. resume() makes it accept writes again. If that fails and the directory is writable,
  // resume() closes the database and opens it again.  If opening fails, Reading::ok() is false; call resume() again.
  Status resume();
  // Enables the compaction of files. It is disabled at startup, because it would compete for the processor and the disk while the caches
  // load.
  void merge_files();
  // Releases memory of an idle store: flushes recent writes to files in the background, and drops cached blocks. Each of the two is done
  // only if it has at least 1 MB. True: a flush has begun.
  bool write_out_if_large();
  std::int64_t size_bytes() const noexcept;

  // Access to the open database. ok() is false after close(), and if resume() could not open the database again.
  class Reading {
   public:
    explicit Reading(const Database& database) : lock_(database.mutex_), db_(database.db_.get()), database_(database) {}
    bool ok() const noexcept { return db_ != nullptr; }
    rocksdb::DB& db() const noexcept { return *db_; }
    rocksdb::ColumnFamilyHandle* family(Family family) const noexcept { return database_.families_[static_cast<std::size_t>(family)]; }

   private:
    std::shared_lock<std::shared_mutex> lock_;
    rocksdb::DB* db_;
    const Database& database_;
  };

 private:
  Database(std::string directory, backplane::Logger* logger, bool durable)
      : directory_(std::move(directory)), logger_(logger), durable_(durable) {}
  Status open_handles();
  rocksdb::Status close_handles();
  // Flushes the memtables to files in the background. Called after opening, when they have the entries that were replayed from the log:
  // startup does not wait for the flush, and the next startup need not replay them. After a clean shutdown they are empty.
  void write_out();

  const std::string directory_;
  backplane::Logger* const logger_;
  const bool durable_;
  mutable std::shared_mutex mutex_;
  std::atomic<bool> merging_{false};
  std::shared_ptr<rocksdb::Cache> cache_;
  std::unique_ptr<LogLedger> ledger_;  // declared before db_, which uses its Env
  std::unique_ptr<rocksdb::DB> db_;
  std::array<rocksdb::ColumnFamilyHandle*, 4> families_{};
};

// The Status of a failed RocksDB call; `what` names the operation.
Status to_status(const rocksdb::Status& status, std::string_view what);
Status damaged(std::string_view what, std::string_view key);

// Checks the store's format, and reads the current and the compacted revision.
Result<Opened> read_opened(const Database& database);

}  // namespace backplane::rocks
