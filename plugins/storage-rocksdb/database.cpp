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

// Small, because the watch cache holds the hot data, so RocksDB needs little memory.
constexpr std::size_t kWriteBuffer = 8 * 1024 * 1024;       // per column family, before it is flushed
constexpr std::size_t kAllWriteBuffers = 16 * 1024 * 1024;  // together
constexpr std::uint64_t kMuch = 1024 * 1024;                // in them, of a store that has nothing to do
constexpr std::size_t kBlockCache = 8 * 1024 * 1024;
constexpr std::uint64_t kMaxWal = 32 * 1024 * 1024;  // bounds the replay of the next open

rocksdb::ColumnFamilyOptions family_options(const std::shared_ptr<rocksdb::Cache>& cache, bool bloom, bool merging) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = cache;
  table.cache_index_and_filter_blocks = true;
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  table.block_size = 16 * 1024;
  table.format_version = 5;
  // A create looks up a key that does not exist: the filter answers that without reading a block.
  if (bloom) table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));

  rocksdb::ColumnFamilyOptions options;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.write_buffer_size = kWriteBuffer;
  options.max_write_buffer_number = 2;
  options.arena_block_size = 256 * 1024;
  options.target_file_size_base = 32 * 1024 * 1024;
  options.level_compaction_dynamic_level_bytes = true;
  options.disable_auto_compactions = !merging;
  // The same for the newest writes, which are in memory.
  if (bloom) options.memtable_prefix_bloom_size_ratio = 0.02;
  options.memtable_whole_key_filtering = bloom;
  // The newest levels are rewritten soon: compressing them costs more than it saves.
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
  // A truncated last record comes from a power failure; all acknowledged writes precede it.  If records follow the damage, acknowledged
  // writes would be lost, so startup fails.
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  options.paranoid_checks = true;
  // Entries replayed from a log after a crash stay in memory and in that log until write_out() has flushed them.
  options.avoid_flush_during_recovery = true;
  return options;
}

bool is_lock_error(const rocksdb::Status& status) { return status.IsIOError() && status.ToString().find("lock") != std::string::npos; }

Status damaged_store(const std::string& directory, const std::string& how) {
  return internal_error("the store in " + backplane::quoted(directory) +
                        " is damaged and is left as it is; put a copy of it in its place (" + how + ")");
}

// RocksDB does not name the log whose record it could not read.
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

// Writes a file and syncs it.
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

bool Database::write_out_much() {
  const Reading reading(*this);
  if (!reading.ok()) return false;
  std::uint64_t all = 0;
  for (auto* family : families_) {
    std::uint64_t one = 0;
    if (db_->GetIntProperty(family, rocksdb::DB::Properties::kCurSizeActiveMemTable, &one)) all += one;
  }
  // Drops blocks that were read for writes: clients read from the watch cache.
  if (cache_->GetUsage() >= kMuch) cache_->EraseUnRefEntries();
  if (all < kMuch) return false;
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
  // A database that cannot be reopened cannot be read either, so it stays open until reopening can succeed.
  if (auto status = try_write(directory_); !status.ok()) return status;
  std::unique_lock lock(mutex_);
  if (db_) (void)close_handles();  // returns the known error again
  return open_handles();
}

void Database::merge_files() {
  const Reading reading(*this);
  merging_ = true;
  if (!reading.ok()) return;  // The next startup handles it.
  const auto status = reading.db().EnableAutoCompaction({families_.begin(), families_.end()});
  if (!status.ok() && logger_ != nullptr) logger_->warn("merging the store's files failed: " + status.ToString());
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
