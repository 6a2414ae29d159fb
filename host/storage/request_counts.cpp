#include "storage/request_counts.hpp"

#include <string>
#include <vector>

#include "backplane/core/metrics.hpp"

namespace backplane {

void count_request(std::string_view operation, const GroupResource& resource, bool failed, std::chrono::steady_clock::time_point begun) {
  static const std::vector<std::string> labels = {"operation", "group", "resource"};
  static Metric& durations =
      Metric::histogram("etcd_request_duration_seconds", "Duration of calls of the store in seconds, by operation and resource.", labels,
                        {0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60});
  static Metric& totals = Metric::counter("etcd_requests_total", "What the store was asked for, by operation and resource.", labels);
  static Metric& errors = Metric::counter("etcd_request_errors_total", "What the store refused, by operation and resource.", labels);
  const std::initializer_list<std::string_view> values = {operation, resource.group, resource.resource};
  durations.observe(values, std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count());
  totals.add(values);
  if (failed) errors.add(values);
}

}  // namespace backplane
