// snapshot_store() and verify_snapshot() (store_snapshot.hpp).
#include "storage/store_snapshot.hpp"

#include <algorithm>
#include <array>
#include <ctime>

#include "storage/store_hold.hpp"
#include "storage/store_walk.hpp"
#include "storage/store_writer.hpp"

namespace backplane {
namespace {

constexpr int kMaxTries = 5;

std::string now_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

Task<Status> check_complete(StorageBackend& store) {
  auto reading = read_key(store, kHoldKey);
  auto mark = co_await std::move(reading);
  if (!mark.ok()) co_return std::move(mark.status());
  const auto hold = mark->has_value() ? parse_hold((*mark)->value.view()) : std::nullopt;
  if (!hold || hold->kind != StoreHold::Kind::kFilling) co_return Status();
  co_return Status(Reason::kConflict, "the store is an unfinished copy of " + hold->other);
}

Task<Result<Revision>> write_all(StorageBackend& store, SnapshotWriter& to, std::string source, StoreProgress progress) {
  auto asking = store.current_revision();
  auto revision = co_await std::move(asking);
  if (!revision.ok()) co_return std::move(revision.status());
  if (Status begun = to.begin({*revision, now_text(), source}); !begun.ok()) co_return begun;
  StoreWalk walk(store, *revision);
  for (;;) {
    auto walking = walk.next();
    Result<bool> more;
    more = co_await std::move(walking);
    if (!more.ok()) co_return std::move(more.status());
    if (!*more) break;
    for (const KeyValue& item : walk.items()) {
      if (Status added = to.add(item); !added.ok()) co_return added;
    }
    if (progress) progress(to.keys(), 0);
  }
  co_return *revision;
}

}  // namespace

Task<Result<Revision>> snapshot_store(StorageBackend& store, SnapshotWriter& to, std::string source, StoreProgress progress) {
  auto checking = check_complete(store);
  Status complete = co_await std::move(checking);
  if (!complete.ok()) co_return complete;
  for (int i = 0; i < kMaxTries; ++i) {
    auto writing = write_all(store, to, source, progress);
    Result<Revision> written;
    written = co_await std::move(writing);
    // kExpired: the revision was compacted while it was being read.
    if (written.ok() || written.status().reason() != Reason::kExpired) co_return written;
  }
  co_return Status(Reason::kConflict, "the store compacts its history faster than it can be read; try again when it is less busy");
}

Result<VerifiedSnapshot> verify_snapshot(SnapshotReader& from, const StoreProgress& progress) {
  VerifiedSnapshot out;
  for (;;) {
    auto item = from.next();
    if (!item.ok()) return std::move(item.status());
    if (!item->has_value()) break;
    out.items.push_back({(*item)->mod_revision, from.place()});
    if (progress) progress(from.offset(), from.size());
  }
  std::stable_sort(out.items.begin(), out.items.end(), [](const auto& a, const auto& b) { return a.revision < b.revision; });
  return out;
}

}  // namespace backplane
