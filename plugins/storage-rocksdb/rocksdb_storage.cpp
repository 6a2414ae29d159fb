#include "rocksdb_storage.hpp"

#include <mutex>

#include "backplane/points/storage_feed.hpp"
#include "batch.hpp"
#include "inspection.hpp"
#include "reader.hpp"
#include "records.hpp"
#include "writer.hpp"

namespace backplane {
namespace rocks {
namespace {

constexpr std::size_t kLinesPerCompaction = 2000;  // the number of log rows that one write removes, so that other writes can run in between

class RocksdbStorage final : public StorageBackend, public StoreInspection, private CommitHistory {
 public:
  RocksdbStorage(std::unique_ptr<Database> database, Opened opened, const StorageBackendConfig& config)
      : stored_form_(config.stored_form.empty() ? "json" : config.stored_form),
        durable_(durably(!config.unsafe_no_fsync)),
        database_(std::move(database)),
        compacted_(opened.compacted),
        reader_(*database_, compacted_),
        feed_(*this, opened.revision),
        writer_(*database_, reader_, opened.revision, !config.unsafe_no_fsync, feed_) {}
  ~RocksdbStorage() override { (void)shut_down(); }

  Status start() {
    auto status = writer_.load_leases();
    if (status.ok()) writer_.start();
    return status;
  }

  Task<Result<Revision>> current_revision() override { co_return writer_.committed(); }
  Revision committed_revision() const noexcept override { return writer_.committed(); }
  Task<Result<RangeResult>> range(RangeRequest request) override;
  Task<Result<TxnResult>> txn(TxnRequest request) override;
  Result<std::unique_ptr<StorageWatch>> watch(std::string prefix, Revision after) override;
  Task<Status> compact(Revision revision) override;
  Task<Result<LeaseId>> grant_lease(std::chrono::seconds ttl) override;
  bool can_raise_revision() const noexcept override { return true; }
  Task<Status> raise_revision(Revision revision) override;
  Task<Status> health(std::chrono::milliseconds) override { co_return writer_.health(); }
  Task<Status> stop() override;
  std::int64_t size_bytes() const noexcept override { return database_->size_bytes(); }
  std::string_view stored_form() const noexcept override { return stored_form_; }
  Task<Result<StoreFacts>> facts() override;
  Task<Result<StoreCheckPart>> check(std::string from) override;

 private:
  Task<Result<EventBatch>> read_history(std::string prefix, Revision after, std::size_t limit) override;
  Result<bool> begin_compaction(Revision revision);
  Result<bool> compact_part(Revision revision);
  Status shut_down();
  static rocksdb::WriteOptions durably(bool sync) {
    rocksdb::WriteOptions options;
    options.sync = sync;
    return options;
  }

  const std::string stored_form_;
  // The options of writes outside of writer_. They are durable, too: otherwise a power failure could leave a hole in the log before a later
  // record, which would be reported as damage (log_tail.hpp).
  const rocksdb::WriteOptions durable_;
  std::unique_ptr<Database> database_;
  std::atomic<Revision> compacted_;
  std::mutex compacting_;
  std::string compact_from_;  // the key of the first log row that may still exist; guarded by compacting_
  Reader reader_;
  CommitFeed feed_;
  Writer writer_;
};

Task<Result<RangeResult>> RocksdbStorage::range(RangeRequest request) {
  if (request.end.empty() && request.revision == 0) {
    auto quick = reader_.range(request, true);
    if (!quick.ok()) co_return std::move(quick.status());
    if (quick->has_value()) co_return std::move(**quick);
  }
  Result<std::optional<RangeResult>> result;
  auto reading = run_blocking([&] { result = reader_.range(request, false); });
  co_await std::move(reading);
  if (!result.ok()) co_return std::move(result.status());
  co_return std::move(**result);
}

Task<Result<TxnResult>> RocksdbStorage::txn(TxnRequest request) {
  if (auto bad = check_txn(request); !bad.ok()) co_return std::move(bad);
  Pending pending;
  pending.request = std::move(request);
  const auto done = pending.done;
  auto refused = writer_.submit(std::move(pending));
  if (!refused.ok()) co_return std::move(refused);
  auto result = co_await done.future();
  co_return result;
}

Task<Result<LeaseId>> RocksdbStorage::grant_lease(std::chrono::seconds ttl) {
  if (ttl.count() <= 0) co_return bad_request("a lease needs a time to live of at least one second");
  Pending pending;
  pending.lease_ttl = ttl;
  const auto done = pending.done;
  auto refused = writer_.submit(std::move(pending));
  if (!refused.ok()) co_return std::move(refused);
  auto result = co_await done.future();
  if (!result.ok()) co_return std::move(result.status());
  co_return LeaseId{result->revision};
}

Task<Status> RocksdbStorage::raise_revision(Revision revision) {
  if (revision <= writer_.committed()) co_return Status();
  Pending pending;
  pending.raise_to = revision;
  const auto done = pending.done;
  auto refused = writer_.submit(std::move(pending));
  if (!refused.ok()) co_return std::move(refused);
  auto result = co_await done.future();
  co_return result.status();
}

Result<std::unique_ptr<StorageWatch>> RocksdbStorage::watch(std::string prefix, Revision after) {
  if (after + 1 < compacted_.load()) return compacted_status();
  return feed_.watch(std::move(prefix), after);
}

Task<Result<EventBatch>> RocksdbStorage::read_history(std::string prefix, Revision after, std::size_t limit) {
  Result<EventBatch> result;
  auto reading = run_blocking([&] { result = reader_.events(prefix, after, limit); });
  co_await std::move(reading);
  co_return result;
}

Task<Status> RocksdbStorage::compact(Revision revision) {
  Result<bool> more = true;
  auto beginning = run_blocking([&] { more = begin_compaction(revision); });
  co_await std::move(beginning);
  // Each part is a separate job of the blocking pool, so that reads that wait for a thread can run in between.
  while (more.ok() && *more) {
    auto working = run_blocking([&] { more = compact_part(revision); });
    co_await std::move(working);
  }
  co_return more.ok() ? Status() : std::move(more.status());
}

// Sets the compacted revision. False: the store has already been compacted to this revision.
Result<bool> RocksdbStorage::begin_compaction(Revision revision) {
  if (revision > writer_.committed()) return bad_request("the requested revision is a future revision");
  const Database::Reading reading(*database_);
  if (!reading.ok()) return stopped_status();
  if (revision <= compacted_.load()) return false;
  // Written before the first row is deleted, so that after a crash during the compaction no watch reads an incomplete history.
  const auto status = reading.db().Put(durable_, "compacted", number(static_cast<std::uint64_t>(revision)));
  if (!status.ok()) return to_status(status, "compact the store");
  compacted_.store(revision);
  return true;
}

// Removes some of the log rows before `revision`, and the versions that they superseded. False: all of them have been removed.  Begins
// where the last call ended, because RocksDB skips removed rows slowly.
Result<bool> RocksdbStorage::compact_part(Revision revision) {
  const std::lock_guard lock(compacting_);
  const Database::Reading reading(*database_);
  if (!reading.ok()) return stopped_status();
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  std::unique_ptr<rocksdb::Iterator> it(reading.db().NewIterator(options, reading.family(Family::kLog)));
  rocksdb::WriteBatch rows;
  std::size_t lines = 0;
  std::string next = compact_from_;
  for (it->Seek(compact_from_); it->Valid() && lines < kLinesPerCompaction; it->Next(), ++lines) {
    const Revision at = log_key_revision({it->key().data(), it->key().size()});
    if (at >= revision) break;
    const auto line = parse_log_record({it->value().data(), it->value().size()});
    if (!line) return damaged("the log line at revision " + std::to_string(at), "");
    if (line->previous != 0) rows.Delete(reading.family(Family::kOld), old_key(line->key, at));
    rows.Delete(reading.family(Family::kLog), it->key());
    next.assign(it->key().data(), it->key().size());
  }
  if (!it->status().ok()) return to_status(it->status(), "compact the store");
  if (lines == 0) return false;
  const auto status = reading.db().Write(durable_, &rows);
  if (!status.ok()) return to_status(status, "compact the store");
  compact_from_ = std::move(next);
  return lines == kLinesPerCompaction;
}

Task<Result<StoreFacts>> RocksdbStorage::facts() {
  Result<StoreFacts> found;
  auto reading = run_blocking([&] { found = read_facts(*database_); });
  co_await std::move(reading);
  if (found.ok()) {
    found->revision = writer_.committed();
    found->compacted = compacted_.load();
  }
  co_return found;
}

Task<Result<StoreCheckPart>> RocksdbStorage::check(std::string from) {
  Result<StoreCheckPart> part;
  auto reading = run_blocking([&] { part = check_part(*database_, from); });
  co_await std::move(reading);
  co_return part;
}

Status RocksdbStorage::shut_down() {
  writer_.stop();
  feed_.close();
  return database_->close();
}

Task<Status> RocksdbStorage::stop() {
  Status status;
  auto working = run_blocking([&] { status = shut_down(); });
  co_await std::move(working);
  co_return status;
}

}  // namespace
}  // namespace rocks

Result<std::unique_ptr<StorageBackend>> open_rocksdb_storage(const StorageBackendConfig& config, Logger* logger) {
  auto database = rocks::Database::open(config.data_dir, logger, !config.unsafe_no_fsync);
  if (!database.ok()) return std::move(database.status());
  auto opened = rocks::read_opened(**database);
  if (!opened.ok()) return std::move(opened.status());
  auto storage = std::make_unique<rocks::RocksdbStorage>(std::move(*database), *opened, config);
  if (auto status = storage->start(); !status.ok()) return status;
  return std::unique_ptr<StorageBackend>(std::move(storage));
}

}  // namespace backplane
