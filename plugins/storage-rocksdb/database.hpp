// The RocksDB handle with this store's column families and options: opening, reading versions, closing.
//
// Thread-safety: every method from any thread; close() and resume() wait for readers that hold a Reading.
// Lifetime:      a Reading keeps the database open while it lives: short, never across a suspension.
// Errors:        kInternalError with RocksDB's text, or with the name of a missing log; a directory in use by another process is
//                kServiceUnavailable and names it.
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

// Data that is read before the store accepts work.
struct Opened {
  Revision revision = 1;
  Revision compacted = 0;
};

class Database {
 public:
  // `logger` receives RocksDB's warnings; it may be null. `durable`: false with --unsafe-no-fsync, so that no log space is reserved:
  // without fsync a power failure could leave holes in it.
  static Result<std::unique_ptr<Database>> open(const std::string& directory, backplane::Logger* logger, bool durable = true);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Flushes, so that the next open has nothing to replay, and releases the directory.  Idempotent.
  Status close();
  // RocksDB refuses every write after a failed one.  Makes it accept writes again; if that fails and the directory is writable, the
  // database is closed and reopened from the log on the disk.  ok() of a Reading is false while reopening fails; call again.
  Status resume();
  // Enables compaction of files, which would otherwise compete for the processor and the disk while the caches load.
  void merge_files();
  // Releases the memory of recent writes, for an idle store: flushes them to files in the background, and drops cached blocks. Does neither
  // below 1 MB. Returns true if a flush has begun.
  bool write_out_much();
  std::int64_t size_bytes() const noexcept;

  // Access to the open database; ok() is false after close() and when it could not be opened again.
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
  // Flushes the entries replayed from the log to files, in the background: startup need not wait until they are durable, and the next one
  // has nothing of it to replay. After a clean shutdown there is nothing to flush.
  void write_out();

  const std::string directory_;
  backplane::Logger* const logger_;
  const bool durable_;
  mutable std::shared_mutex mutex_;
  std::atomic<bool> merging_{false};
  std::shared_ptr<rocksdb::Cache> cache_;
  std::unique_ptr<LogLedger> ledger_;  // before the database, which works on its files
  std::unique_ptr<rocksdb::DB> db_;
  std::array<rocksdb::ColumnFamilyHandle*, 4> families_{};
};

// The Status of a failed RocksDB call; `what` names the operation.
Status to_status(const rocksdb::Status& status, std::string_view what);
Status damaged(std::string_view what, std::string_view key);

// Current and compacted revision; checks the format.
Result<Opened> read_opened(const Database& database);

}  // namespace backplane::rocks
