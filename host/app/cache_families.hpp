// The metric families with a series for each watch cache: names, labels and values.
//
// Thread-safety: pure functions.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/tracked_caches.hpp"

namespace backplane {

struct CacheFamily {
  enum class Labels : unsigned char { kPrefix, kGroupAndResource, kResource };  // kResource: "deployments.apps"
  std::string_view name, help;
  enum class Field : unsigned char { kObjects, kBytes, kRevision };
  Labels labels;
  Field field;                                                   // which the value depends on
  bool of_objects;                                               // counts objects in the store (--etcd-count-metric-poll-period)
  std::optional<double> (*value)(const TrackedCaches::Totals&);  // nullopt: the cache has no series
};
std::span<const CacheFamily> cache_families();
std::vector<std::string> label_names(CacheFamily::Labels labels);
// In the order of the names.
std::vector<std::string> label_values(CacheFamily::Labels labels, const std::string& prefix, const GroupResource& resource);

}  // namespace backplane
