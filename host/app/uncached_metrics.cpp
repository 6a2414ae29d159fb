#include "app/uncached_metrics.hpp"

namespace backplane {

bool is_of_caches(std::string_view family) {
  return family.starts_with("apiserver_watch_cache_") || family.starts_with("apiserver_cache_list_") || family == "watch_cache_capacity" ||
         family == "apiserver_init_events_total";
}

}  // namespace backplane
