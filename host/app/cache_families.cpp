#include "app/cache_families.hpp"

#include "watchcache/event_log.hpp"

namespace backplane {
namespace {

constexpr Revision kDigits = 1'000'000'000'000'000;  // the values have at most fifteen digits, which a double represents exactly

std::optional<double> bytes_of(const TrackedCaches::Totals& totals) { return static_cast<double>(totals.bytes); }
std::optional<double> objects_of(const TrackedCaches::Totals& totals) { return static_cast<double>(totals.objects); }
std::optional<double> revision_of(const TrackedCaches::Totals& totals) {
  return totals.revision == 0 ? std::optional<double>() : static_cast<double>(totals.revision % kDigits);
}
std::optional<double> capacity_of(const TrackedCaches::Totals& totals) {
  return totals.revision == 0 ? std::optional<double>() : static_cast<double>(EventLog::Limits().max_events);
}

constexpr CacheFamily kFamilies[] = {
    {"apiserver_watch_cache_bytes", "Bytes of encoded objects held in memory, by key prefix.", CacheFamily::Labels::kPrefix,
     CacheFamily::Field::kBytes, false, bytes_of},
    {"apiserver_watch_cache_resource_version", "The newest resource version that a cache has, by resource; its last fifteen digits.",
     CacheFamily::Labels::kGroupAndResource, CacheFamily::Field::kRevision, false, revision_of},
    {"watch_cache_capacity", "Events that a cache keeps for its watchers, by resource.", CacheFamily::Labels::kGroupAndResource,
     CacheFamily::Field::kRevision, false, capacity_of},
    {"apiserver_resource_objects",
     "Objects that are stored, by resource; kinds that are served in several groups count where they are stored.",
     CacheFamily::Labels::kGroupAndResource, CacheFamily::Field::kObjects, true, objects_of},
    {"apiserver_storage_objects", "The same by the older name, resource and group in one label.", CacheFamily::Labels::kResource,
     CacheFamily::Field::kObjects, true, objects_of},
    {"apiserver_resource_size_estimate_bytes", "Bytes of the objects that are stored, as JSON, by resource.",
     CacheFamily::Labels::kGroupAndResource, CacheFamily::Field::kBytes, true, bytes_of},
};

}  // namespace

std::span<const CacheFamily> cache_families() { return kFamilies; }

std::vector<std::string> label_names(CacheFamily::Labels labels) {
  if (labels == CacheFamily::Labels::kPrefix) return {"prefix"};
  return labels == CacheFamily::Labels::kResource ? std::vector<std::string>{"resource"} : std::vector<std::string>{"group", "resource"};
}

std::vector<std::string> label_values(CacheFamily::Labels labels, const std::string& prefix, const GroupResource& resource) {
  if (labels == CacheFamily::Labels::kPrefix) return {prefix};
  if (labels == CacheFamily::Labels::kGroupAndResource) return {resource.group, resource.resource};
  return {resource.group.empty() ? resource.resource : resource.resource + "." + resource.group};
}

}  // namespace backplane
