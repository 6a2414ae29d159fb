#include "storage/store_usage.hpp"

#include <algorithm>

#include "storage/store_walk.hpp"

namespace backplane {
namespace {

void count(TypeUsage& usage, std::uint64_t bytes) {
  ++usage.objects;
  usage.bytes += bytes;
  usage.largest = std::max(usage.largest, bytes);
}

}  // namespace

// A key is /registry/RESOURCE/…, or /registry/GROUP/RESOURCE/… for custom resources and APIServices; services have
// /registry/services/specs/….
std::string stored_type(std::string_view key) {
  if (key.starts_with(kObjectKeyPrefix)) key.remove_prefix(kObjectKeyPrefix.size());
  const auto slash = key.find('/');
  const std::string_view first = key.substr(0, slash);
  if (slash == std::string_view::npos) return std::string(first);
  const std::string_view rest = key.substr(slash + 1);
  const std::string_view second = rest.substr(0, rest.find('/'));
  if (first.find('.') != std::string_view::npos) return std::string(second) + "." + std::string(first);
  if (first == "services") return std::string(first) + "/" + std::string(second);
  return std::string(first);
}

void StoreUsage::add(const KeyValue& item) {
  const std::uint64_t bytes = item.key.size() + item.value.size();
  count(types[stored_type(item.key)], bytes);
  count(total, bytes);
}

Task<Result<StoreUsage>> read_usage(StorageBackend& store, std::function<void(const StoreUsage&)> progress) {
  auto asking = store.current_revision();
  auto revision = co_await std::move(asking);
  if (!revision.ok()) co_return std::move(revision.status());
  StoreUsage usage;
  usage.revision = *revision;
  StoreWalk walk(store, 0);  // the pages may have different revisions
  for (;;) {
    auto walking = walk.next();
    Result<bool> more;
    more = co_await std::move(walking);
    if (!more.ok()) co_return std::move(more.status());
    if (!*more) break;
    for (const KeyValue& item : walk.items()) usage.add(item);
    if (progress) progress(usage);
  }
  co_return usage;
}

}  // namespace backplane
