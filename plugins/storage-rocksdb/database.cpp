#include "database.hpp"

#include <fcntl.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "info_log.hpp"
#include "log_scan.hpp"
#include "records.hpp"

namespace backplane::rocks {
namespace {

// The sizes are small, because clients read from the watch cache.
constexpr std::size_t kWriteBuffer = 8 * 1024 * 1024;       // the memtable size per column family at which it is flushed
constexpr std::size_t kAllWriteBuffers = 16 * 1024 * 1024;  // the limit of all memtables
constexpr std::uint64_t kLargeMemtable = 1024 * 1024;       // write_out_if_large(): the size at which memory is released
constexpr std::size_t kBlockCache = 8 * 1024 * 1024;
constexpr std::uint64_t kMaxWal = 32 * 1024 * 1024;  // limits the amount of log that a startup replays

rocksdb::ColumnFamilyOptions family_options(const std::shared_ptr<rocksdb::Cache>& cache, bool bloom, bool merging) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = cache;
  table.cache_index_and_filter_blocks = true;
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  table.block_size = 16 * 1024;
  table.format_version = 5;
  // A create looks up a key that does not exist. With the filter, RocksDB detects that without reading a block.
  if (bloom) table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));

  rocksdb::ColumnFamilyOptions options;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.write_buffer_size = kWriteBuffer;
  options.max_write_buffer_number = 2;
  options.arena_block_size = 256 * 1024;
  options.target_file_size_base = 32 * 1024 * 1024;
  options.level_compaction_dynamic_level_bytes = true;
  options.disable_auto_compactions = !merging;
  // A filter for the newest writes, which are in memory.
  if (bloom) options.memtable_prefix_bloom_size_ratio = 0.02;
  options.memtable_whole_key_filtering = bloom;
  // Only the last level is compressed: the other levels are rewritten soon, so compressing them costs more than it saves.
  options.compression = rocksdb::kNoCompression;
  options.bottommost_compression = rocksdb::kLZ4Compression;
  return options;
}

rocksdb::DBOptions database_options() {
  rocksdb::DBOptions options;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  options.db_write_buffer_size = kAllWriteBuffers;
  options.max_total_wal_size = kMaxWal;
  options.max_background_jobs = 2;
  options.max_open_files = 512;
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  options.skip_stats_update_on_db_open = true;
  options.skip_checking_sst_file_sizes_on_db_open = true;
  options.max_file_opening_threads = 1;
  // A truncated last record is the result of a power failure, and all acknowledged writes precede it.  If records follow a damaged one,
  // startup fails, because acknowledged writes would be lost.
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  options.paranoid_checks = true;
  // Entries replayed from a log after a crash stay in memory and in that log until write_out() has flushed them.
  options.avoid_flush_during_recovery = true;
  return options;
}

bool is_lock_error(const rocksdb::Status& status) { return status.IsIOError() && status.ToString().find("lock") != std::string::npos; }

Status damaged_store(const std::string& directory, const std::string& how) {
  return internal_error("the store in " + backplane::quoted(directory) + " is damaged and is not changed; replace it by a copy (" + how +
                        ")");
}

// The log and the offset of the damaged record, which RocksDB does not report; empty if the message names a file.
std::string place_of_damage(const std::string& directory, const std::string& message) {
  if (message.find(directory) != std::string::npos) return {};
  const auto found = find_damaged_log(directory);
  return found ? " in " + found->path + " offset " + std::to_string(found->offset) : "";
}

Status open_error(const rocksdb::Status& status, const std::string& directory) {
  if (is_lock_error(status)) {
    return service_unavailable("the store in " + backplane::quoted(directory) +
                               " is in use by another process; stop that process, or give this one another --data-dir");
  }
  if (status.IsCorruption()) return damaged_store(directory, status.ToString() + place_of_damage(directory, status.ToString()));
  return to_status(status, "open the store in " + backplane::quoted(directory));
}

// Checks that the directory is writable: writes a file and syncs it.
Status try_write(const std::string& directory) {
  const std::string path = directory + "/write-probe";
  const std::string page(4096, '\0');
  const int fd = ::open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
  const bool written = fd >= 0 && ::write(fd, page.data(), page.size()) == static_cast<ssize_t>(page.size()) && ::fsync(fd) == 0;
  const int error = errno;
  if (fd >= 0) ::close(fd);
  ::unlink(path.c_str());
  if (written) return {};
  return internal_error("cannot write to the store: " + path + ": " + std::generic_category().message(error));
}

}  // namespace

Status to_status(const rocksdb::Status& status, std::string_view what) {
  return Status(Reason::kInternalError, "cannot " + std::string(what) + ": " + status.ToString());
}

Status damaged(std::string_view what, std::string_view key) {
  return Status(Reason::kInternalError,
                "the store is damaged: " + std::string(what) + " of key " + backplane::quoted(key) + " cannot be read");
}

Result<std::unique_ptr<Database>> Database::open(const std::string& directory, backplane::Logger* logger, bool durable) {
  std::unique_ptr<Database> database(new Database(directory, logger, durable));
  if (auto status = database->open_handles(); !status.ok()) return status;
  return database;
}

Status Database::open_handles() {
  cache_ = rocksdb::NewLRUCache(kBlockCache, 2);
  const std::vector<rocksdb::ColumnFamilyDescriptor> families = {
      {rocksdb::kDefaultColumnFamilyName, family_options(cache_, false, merging_)},
      {"live", family_options(cache_, true, merging_)},
      {"old", family_options(cache_, false, merging_)},
      {"log", family_options(cache_, false, merging_)},
  };
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* raw = nullptr;
  auto options = database_options();
  options.info_log = make_info_log(logger_);
  ledger_ = std::make_unique<LogLedger>(directory_, durable_);
  if (const std::string gone = ledger_->missing(); !gone.empty()) return damaged_store(directory_, "its log " + gone + " is missing");
  options.env = ledger_->env();
  const auto status = rocksdb::DB::Open(options, directory_, families, &handles, &raw);
  if (!status.ok()) return open_error(status, directory_);
  ledger_->end_recovery();
  db_.reset(raw);
  std::copy(handles.begin(), handles.end(), families_.begin());
  write_out();
  return {};
}

bool Database::write_out_if_large() {
  const Reading reading(*this);
  if (!reading.ok()) return false;
  std::uint64_t all = 0;
  for (auto* family : families_) {
    std::uint64_t one = 0;
    if (db_->GetIntProperty(family, rocksdb::DB::Properties::kCurSizeActiveMemTable, &one)) all += one;
  }
  // Drops cached blocks. They were read for writes and are not needed for clients, which read from the watch cache.
  if (cache_->GetUsage() >= kLargeMemtable) cache_->EraseUnRefEntries();
  if (all < kLargeMemtable) return false;
  write_out();
  return true;
}

void Database::write_out() {
  rocksdb::FlushOptions options;
  options.wait = false;
  options.allow_write_stall = true;
  for (auto* family : families_) {
    const auto status = db_->Flush(options, family);
    // A failure is harmless: the log has all data, and a later call retries.
    if (!status.ok() && logger_ != nullptr) logger_->warn("flushing the store's log failed: " + status.ToString());
  }
}

rocksdb::Status Database::close_handles() {
  for (auto*& family : families_) {
    db_->DestroyColumnFamilyHandle(family);
    family = nullptr;
  }
  const auto closed = db_->Close();
  db_.reset();
  return closed;
}

Database::~Database() { (void)close(); }

Status Database::close() {
  std::unique_lock lock(mutex_);
  if (!db_) return {};
  const std::vector<rocksdb::ColumnFamilyHandle*> all(families_.begin(), families_.end());
  const auto flushed = db_->Flush(rocksdb::FlushOptions(), all);
  const auto closed = close_handles();
  if (!flushed.ok()) return to_status(flushed, "flush the store");
  if (!closed.ok()) return to_status(closed, "close the store");
  return ledger_->clear();
}

Status Database::resume() {
  {
    const Reading reading(*this);
    if (reading.ok() && reading.db().Resume().ok()) return {};
  }
  // If the database could not be opened again, it could not be read either. So it stays open until the directory is writable.
  if (auto status = try_write(directory_); !status.ok()) return status;
  std::unique_lock lock(mutex_);
  if (db_) (void)close_handles();  // its error is the one that is already known
  return open_handles();
}

void Database::merge_files() {
  const Reading reading(*this);
  merging_ = true;
  if (!reading.ok()) return;  // open_handles() uses merging_ when it opens the database again
  const auto status = reading.db().EnableAutoCompaction({families_.begin(), families_.end()});
  if (!status.ok() && logger_ != nullptr) logger_->warn("compacting the store's files failed: " + status.ToString());
}

std::int64_t Database::size_bytes() const noexcept {
  const Reading reading(*this);
  if (!reading.ok()) return -1;
  std::uint64_t total = 0;
  for (auto* family : families_) {
    std::uint64_t files = 0;
    std::uint64_t memory = 0;
    reading.db().GetIntProperty(family, rocksdb::DB::Properties::kTotalSstFilesSize, &files);
    reading.db().GetIntProperty(family, rocksdb::DB::Properties::kCurSizeAllMemTables, &memory);
    total += files + memory;
  }
  return static_cast<std::int64_t>(total);
}

Result<Opened> read_opened(const Database& database) {
  const Database::Reading reading(database);
  auto get = [&](std::string_view key, std::string& value) {
    return reading.db().Get(rocksdb::ReadOptions(), reading.family(Family::kDefault), rocksdb::Slice(key.data(), key.size()), &value);
  };
  Opened opened;
  std::string value;
  auto status = get("format", value);
  if (status.IsNotFound()) {
    const auto written = reading.db().Put(rocksdb::WriteOptions(), "format", rocksdb::Slice(kFormat.data(), kFormat.size()));
    if (!written.ok()) return to_status(written, "write the store's format");
    return opened;
  }
  if (!status.ok()) return to_status(status, "read the store's format");
  if (value != kFormat) {
    return internal_error("the store has format " + backplane::quoted(value) + ", this server reads " + backplane::quoted(kFormat));
  }
  for (auto [key, target] : {std::pair{"revision", &opened.revision}, std::pair{"compacted", &opened.compacted}}) {
    status = get(key, value);
    if (status.IsNotFound()) continue;
    if (!status.ok()) return to_status(status, "read the store's revision");
    const auto parsed = parse_number(value);
    if (!parsed) return damaged("the number", key);
    *target = static_cast<Revision>(*parsed);
  }
  return opened;
}

}  // namespace backplane::rocks
