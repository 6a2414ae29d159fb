#include "reader.hpp"

#include <algorithm>

#include "records.hpp"

namespace backplane::rocks {
namespace {

// The number of log rows that events() reads in one call. It limits the time of a call if few keys match.
constexpr std::size_t kLinesPerStep = 16 * 1024;

std::string_view view(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }
rocksdb::Slice slice(std::string_view text) { return {text.data(), text.size()}; }

// A snapshot of the database.
class Moment {
 public:
  explicit Moment(const Database& database) : reading_(database) {
    if (!reading_.ok()) return;
    snapshot_ = reading_.db().GetSnapshot();
    options_.snapshot = snapshot_;
    options_.fill_cache = false;
  }
  ~Moment() {
    if (snapshot_ != nullptr) reading_.db().ReleaseSnapshot(snapshot_);
  }
  Moment(const Moment&) = delete;
  Moment& operator=(const Moment&) = delete;

  bool ok() const noexcept { return reading_.ok(); }
  rocksdb::ReadOptions& options() noexcept { return options_; }

  rocksdb::Status get(Family family, std::string_view key, std::string& value) const {
    return reading_.db().Get(options_, reading_.family(family), slice(key), &value);
  }
  std::unique_ptr<rocksdb::Iterator> iterate(Family family) const {
    return std::unique_ptr<rocksdb::Iterator>(reading_.db().NewIterator(options_, reading_.family(family)));
  }
  Result<Revision> revision() const {
    std::string value;
    const auto status = get(Family::kDefault, "revision", value);
    if (status.IsNotFound()) return Revision{1};
    if (!status.ok()) return to_status(status, "read the store's revision");
    const auto parsed = parse_number(value);
    if (!parsed) return damaged("the number", "revision");
    return static_cast<Revision>(*parsed);
  }

 private:
  Database::Reading reading_;
  const rocksdb::Snapshot* snapshot_ = nullptr;
  rocksdb::ReadOptions options_;
};

// Copies values into shared blocks, which is cheaper than an allocation for each value.  A reference to one value keeps its block alive,
// which is acceptable because the values are soon converted and released.
class Blocks {
 public:
  SharedBytes copy(std::string_view bytes) {
    if (bytes.size() > kLargest) return SharedBytes(std::string(bytes));
    if (!block_ || block_->capacity() - block_->size() < bytes.size()) {
      block_ = std::make_shared<std::string>();
      block_->reserve(kBlock);
    }
    const std::size_t at = block_->size();
    block_->append(bytes);
    return SharedBytes(block_, std::string_view(*block_).substr(at));
  }

 private:
  static constexpr std::size_t kBlock = 64 * 1024;
  static constexpr std::size_t kLargest = kBlock / 8;
  std::shared_ptr<std::string> block_;  // never grows beyond its reserved capacity, so its bytes do not move
};

// Sets all members except the value.
KeyValue key_value(std::string_view key, const VersionRecord& version) {
  KeyValue kv;
  kv.key = key;
  kv.create_revision = version.create;
  kv.mod_revision = version.mod;
  kv.lease = version.lease;
  return kv;
}

// Adds keys to a result under the request's limit.
class Collector {
 public:
  Collector(const RangeRequest& request, RangeResult& result) : request_(request), result_(result) {
    if (request.limit > 0) result.items.reserve(static_cast<std::size_t>(std::min(request.limit, kReserved)));
  }
  bool contains(std::string_view key) const {
    return request_.end.empty() ? key == request_.start : key >= request_.start && key < request_.end;
  }
  // True if no key after `key` is needed.
  bool past(std::string_view key) const { return done_ || (request_.end.empty() ? key > request_.start : key >= request_.end); }
  void add(std::string_view key, const VersionRecord& version) {
    ++result_.count;
    if (request_.count_only) return;
    if (request_.limit > 0 && static_cast<std::int64_t>(result_.items.size()) >= request_.limit) {
      done_ = request_.skip_count;
      return;
    }
    KeyValue& kv = result_.items.emplace_back(key_value(key, version));
    if (request_.keys_only) return;
    kv.value = request_.end.empty() ? SharedBytes(std::string(version.value)) : blocks_.copy(version.value);
  }

 private:
  static constexpr std::int64_t kReserved = 1024;
  const RangeRequest& request_;
  RangeResult& result_;
  Blocks blocks_;
  bool done_ = false;
};

// Collects the newest versions, which are in the column family `live`.
Status collect_newest(const Moment& moment, const RangeRequest& request, Collector& into) {
  auto it = moment.iterate(Family::kLive);
  for (it->Seek(slice(request.start)); it->Valid() && !into.past(view(it->key())); it->Next()) {
    const auto version = parse_version(view(it->value()));
    if (!version) return damaged("the value", view(it->key()));
    into.add(view(it->key()), *version);
  }
  return it->status().ok() ? Status{} : to_status(it->status(), "read a range");
}

// Moves `it` after the old versions of `key`; sets `record` to the version that was valid at `revision`, if there is one.
Status take_old(rocksdb::Iterator& it, std::string_view key, Revision revision, std::optional<std::string>& record) {
  for (; it.Valid(); it.Next()) {
    const auto row = parse_old_key(view(it.key()));
    if (!row) return damaged("an old version", view(it.key()));
    if (row->key != key) break;
    if (record || row->end <= revision) continue;
    const auto version = parse_version(view(it.value()));
    if (!version) return damaged("an old version", key);
    if (version->mod <= revision) record.emplace(view(it.value()));
  }
  return {};
}

// Collects the versions at a past revision: merges the column families `live` and `old` by key.
Status collect_past(const Moment& moment, const RangeRequest& request, Revision revision, Collector& into) {
  auto live = moment.iterate(Family::kLive);
  auto old = moment.iterate(Family::kOld);
  live->Seek(slice(request.start));
  old->Seek(slice(request.start));
  for (;;) {
    std::optional<OldKey> row;
    if (old->Valid() && !(row = parse_old_key(view(old->key())))) return damaged("an old version", view(old->key()));
    const bool has_live = live->Valid() && !into.past(view(live->key()));
    const bool has_old = row && !into.past(row->key);
    if (!has_live && !has_old) break;
    const std::string key(has_live && (!has_old || view(live->key()) <= row->key) ? view(live->key()) : row->key);
    std::optional<std::string> record;
    if (has_old && row->key == key) {
      if (auto status = take_old(*old, key, revision, record); !status.ok()) return status;
    }
    if (has_live && view(live->key()) == key) {
      const auto version = parse_version(view(live->value()));
      if (!version) return damaged("the value", key);
      if (version->mod <= revision) record.emplace(view(live->value()));
      live->Next();
    }
    if (record && into.contains(key)) into.add(key, *parse_version(*record));
  }
  if (!live->status().ok()) return to_status(live->status(), "read a range");
  if (!old->status().ok()) return to_status(old->status(), "read a range");
  return {};
}

// Converts rows of the column family `log` to events.
class EventReader {
 public:
  explicit EventReader(const Moment& moment) : moment_(moment), old_(moment.iterate(Family::kOld)) {}

  Status read(const LogRecord& line, Revision revision, StorageEvent& event) {
    event.type = line.deleted ? StorageEvent::Type::kDelete : StorageEvent::Type::kPut;
    event.kv.key = line.key;
    event.kv.mod_revision = revision;
    event.previous_revision = line.previous;
    if (!line.deleted) {
      if (auto status = read_put(revision, event); !status.ok()) return status;
    }
    return line.previous == 0 ? Status{} : read_previous(revision, event);
  }

 private:
  Status read_put(Revision revision, StorageEvent& event) {
    std::string record;
    const auto status = moment_.get(Family::kLive, event.kv.key, record);
    if (!status.ok() && !status.IsNotFound()) return to_status(status, "read key " + backplane::quoted(event.kv.key));
    auto version = status.ok() ? parse_version(record) : std::nullopt;
    if (!version || version->mod != revision) {
      // The version has been superseded. Its row in `old` is the first one whose end is greater than `revision`.
      old_->Seek(old_key(event.kv.key, revision + 1));
      const auto row = old_->Valid() ? parse_old_key(view(old_->key())) : std::nullopt;
      if (!row || row->key != event.kv.key) return damaged("a past value", event.kv.key);
      record = old_->value().ToString();
      version = parse_version(record);
    }
    if (!version || version->mod != revision) return damaged("a past value", event.kv.key);
    event.kv = key_value(event.kv.key, *version);
    event.kv.value = SharedBytes(std::string(version->value));
    return {};
  }

  Status read_previous(Revision revision, StorageEvent& event) {
    std::string record;
    const auto status = moment_.get(Family::kOld, old_key(event.kv.key, revision), record);
    if (!status.ok()) return damaged("a past value", event.kv.key);
    const auto version = parse_version(record);
    if (!version) return damaged("a past value", event.kv.key);
    event.previous = SharedBytes(std::string(version->value));
    return {};
  }

  const Moment& moment_;
  std::unique_ptr<rocksdb::Iterator> old_;
};

}  // namespace

Status stopped_status() { return service_unavailable("the store has stopped"); }
Status compacted_status() { return expired("the requested revision has been compacted away"); }

Result<std::optional<RangeResult>> Reader::range(const RangeRequest& request, bool memory_only) const {
  Moment moment(database_);
  if (!moment.ok()) return stopped_status();
  auto revision = moment.revision();
  if (!revision.ok()) return std::move(revision.status());
  RangeResult result;
  result.revision = *revision;
  const Revision at = request.revision == 0 ? *revision : request.revision;
  if (at > *revision) return bad_request("the requested revision is a future revision");
  // The snapshot was taken before this check, so it still has the rows that a later compaction removes.
  if (at < compacted_.load()) return compacted_status();

  Collector into(request, result);
  if (request.end.empty() && at == *revision) {
    moment.options().fill_cache = true;
    if (memory_only) moment.options().read_tier = rocksdb::kBlockCacheTier;
    std::string record;
    const auto status = moment.get(Family::kLive, request.start, record);
    // RocksDB returns OK with an empty value if the key may be in a file that it has not read. No stored record is empty.
    if (status.IsIncomplete() || (memory_only && status.ok() && record.empty())) return std::optional<RangeResult>();
    if (!status.ok() && !status.IsNotFound()) return to_status(status, "read key " + backplane::quoted(request.start));
    const auto version = status.ok() ? parse_version(record) : std::nullopt;
    if (status.ok() && !version) return damaged("the value", request.start);
    if (version) into.add(request.start, *version);
    return std::optional<RangeResult>(std::move(result));
  }
  if (memory_only) return std::optional<RangeResult>();
  auto status = at == *revision ? collect_newest(moment, request, into) : collect_past(moment, request, at, into);
  if (!status.ok()) return status;
  result.more = !request.count_only && static_cast<std::int64_t>(result.items.size()) < result.count;
  return std::optional<RangeResult>(std::move(result));
}

Result<EventBatch> Reader::events(const std::string& prefix, Revision after, std::size_t limit) const {
  Moment moment(database_);
  if (!moment.ok()) return stopped_status();
  auto newest = moment.revision();
  if (!newest.ok()) return std::move(newest.status());
  if (after + 1 < compacted_.load()) return compacted_status();

  EventBatch batch;
  batch.revision = *newest;
  EventReader reader(moment);
  auto it = moment.iterate(Family::kLog);
  std::size_t lines = 0;
  Revision last = after;
  for (it->Seek(log_key(after + 1, 0)); it->Valid(); it->Next(), ++lines) {
    const Revision revision = log_key_revision(view(it->key()));
    const bool enough = batch.events.size() >= limit || lines >= kLinesPerStep;
    if (enough && revision != last) {
      batch.revision = last;
      break;
    }
    last = revision;
    const auto line = parse_log_record(view(it->value()));
    if (!line) return damaged("the log line at revision " + std::to_string(revision), "");
    if (!line->key.starts_with(prefix)) continue;
    StorageEvent event;
    if (auto status = reader.read(*line, revision, event); !status.ok()) return status;
    batch.events.push_back(std::move(event));
  }
  if (!it->status().ok()) return to_status(it->status(), "read the log");
  return batch;
}

}  // namespace backplane::rocks
