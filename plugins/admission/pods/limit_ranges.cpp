#include "pods/limit_ranges.hpp"

#include "objects/cached_objects.hpp"

namespace backplane::admission::pods {
namespace {

constexpr std::size_t kMostReads = 10000;
constexpr std::chrono::seconds kReadLife{30};

const GroupVersionResource& limit_range_resource() {
  static const GroupVersionResource resource("", "v1", "limitranges");
  return resource;
}

}  // namespace

LimitRanges::LimitRanges(Services& services)
    : host_(services.host()), lister_(services.lister(limit_range_resource())), reads_(kMostReads) {}

std::optional<LimitRanges::Items> LimitRanges::known(const std::string& ns) const {
  // An incomplete cache may lack some LimitRanges.
  Items cached = lister_.has_synced() ? lister_.in_namespace(ns) : Items();
  if (!cached.empty()) return cached;
  const std::lock_guard lock(mutex_);
  const Read* read = reads_.find(ns);
  if (read == nullptr || read->expires < std::chrono::steady_clock::now()) return std::nullopt;
  return read->items;
}

Task<Result<LimitRanges::Items>> LimitRanges::read(std::string ns) const {
  auto listing = objects::list_live(host_, limit_range_resource(), ns);
  auto items = co_await std::move(listing);
  if (!items.ok()) co_return items;
  {
    const std::lock_guard lock(mutex_);
    reads_.put(ns, {std::chrono::steady_clock::now() + kReadLife, *items});
  }
  co_return items;
}

}  // namespace backplane::admission::pods
