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
  Field field;      // the field of TrackedCaches::Totals that the value depends on
  bool of_objects;  // about the stored objects: --etcd-count-metric-poll-period=0 hides the family
  std::optional<double> (*value)(const TrackedCaches::Totals&);  // nullopt: the cache has no series
};
std::span<const CacheFamily> cache_families();
std::vector<std::string> label_names(CacheFamily::Labels labels);
// The values of the labels, in the order of label_names().
std::vector<std::string> label_values(CacheFamily::Labels labels, const std::string& prefix, const GroupResource& resource);

}  // namespace backplane
