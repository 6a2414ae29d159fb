#include "batch.hpp"

#include "records.hpp"

namespace backplane::rocks {
namespace {

rocksdb::Slice slice(std::string_view text) { return {text.data(), text.size()}; }

std::string version_row(const KeyState& state) {
  std::string row;
  row.reserve(state.value.size() + 24);
  append_version(row, {state.mod, state.create, state.lease, state.value.view()});
  return row;
}

}  // namespace

Result<const KeyState*> Batch::find(const std::string& key) {
  auto [found, added] = keys_.try_emplace(key);
  KeyState& state = found->second;
  if (!added) return &state;
  std::string record;
  const auto status = reading_.db().Get(rocksdb::ReadOptions(), reading_.family(Family::kLive), key, &record);
  if (status.IsNotFound()) return &state;
  const auto version = status.ok() ? parse_version(record) : std::nullopt;
  if (!version) {
    keys_.erase(found);
    return status.ok() ? damaged("the value", key) : to_status(status, "read key " + backplane::quoted(key));
  }
  state = {true, version->mod, version->create, version->lease, SharedBytes(std::string(version->value))};
  return &state;
}

Status Batch::supersede(const std::string& key, const KeyState& state, Revision revision, StorageEvent& event) {
  event.kv.key = key;
  event.kv.mod_revision = revision;
  if (!state.exists) return {};
  event.previous = state.value;
  event.previous_revision = state.mod;
  const auto status = rows_.Put(reading_.family(Family::kOld), old_key(key, revision), version_row(state));
  if (!status.ok()) return to_status(status, "write key " + backplane::quoted(key));
  if (state.lease != 0) remove_row(lease_key_row(state.lease, key));
  return {};
}

void Batch::log(const StorageEvent& event, std::uint32_t index) {
  std::string line;
  append_log_record(line, {event.type == StorageEvent::Type::kDelete, event.previous_revision, event.kv.key});
  rows_.Put(reading_.family(Family::kLog), log_key(event.kv.mod_revision, index), line);
}

Status Batch::put(const Put& put, Revision revision, std::uint32_t index) {
  auto found = find(put.key);
  if (!found.ok()) return std::move(found.status());
  const KeyState old = **found;
  StorageEvent event;
  if (auto status = supersede(put.key, old, revision, event); !status.ok()) return status;
  const KeyState state{true, revision, old.exists ? old.create : revision, put.lease, put.value};
  const auto status = rows_.Put(reading_.family(Family::kLive), put.key, version_row(state));
  if (!status.ok()) return to_status(status, "write key " + backplane::quoted(put.key));
  if (put.lease != 0) set_row(lease_key_row(put.lease, put.key), {});
  event.kv.value = put.value;
  event.kv.create_revision = state.create;
  event.kv.lease = put.lease;
  log(event, index);
  keys_[put.key] = state;
  events_.push_back(std::move(event));
  return {};
}

Status Batch::remove(const std::string& key, Revision revision, std::uint32_t index) {
  auto found = find(key);
  if (!found.ok()) return std::move(found.status());
  const KeyState old = **found;
  StorageEvent event;
  event.type = StorageEvent::Type::kDelete;
  if (auto status = supersede(key, old, revision, event); !status.ok()) return status;
  rows_.Delete(reading_.family(Family::kLive), key);
  log(event, index);
  keys_[key] = {};
  events_.push_back(std::move(event));
  return {};
}

void Batch::set_row(std::string_view row, std::string_view value) {
  rows_.Put(reading_.family(Family::kDefault), slice(row), slice(value));
}
void Batch::remove_row(std::string_view row) { rows_.Delete(reading_.family(Family::kDefault), slice(row)); }

[[gnu::noinline]] rocksdb::Status commit_rows(rocksdb::DB& db, const rocksdb::WriteOptions& options, rocksdb::WriteBatch& rows) {
  return db.Write(options, &rows);
}

rocksdb::Status Batch::write(bool sync, Revision revision) {
  set_row("revision", number(static_cast<std::uint64_t>(revision)));
  rocksdb::WriteOptions options;
  options.sync = sync;
  return commit_rows(reading_.db(), options, rows_);
}

}  // namespace backplane::rocks
