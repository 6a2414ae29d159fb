#include "http/call_metrics.hpp"

#include <mutex>
#include <set>

#include "backplane/core/metrics.hpp"

namespace backplane {
namespace {

struct CallFamilies {
  Metric& durations =
      Metric::histogram("rest_client_request_duration_seconds", "[ALPHA] Request latency in seconds. Broken down by verb, and host.",
                        {"host", "verb"}, {0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0});
  Metric& sizes = Metric::histogram("rest_client_request_size_bytes", "[ALPHA] Request size in bytes. Broken down by verb and host.",
                                    {"host", "verb"}, {64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216});
  Metric& totals =
      Metric::counter("rest_client_requests_total", "[ALPHA] Number of HTTP requests, partitioned by status code, method, and host.",
                      {"code", "host", "method"});
};
CallFamilies& call_families() {
  static CallFamilies all;
  return all;
}

std::string counted_host(std::string_view host) {
  constexpr std::size_t kMostHosts = 100;
  static std::mutex mutex;
  static std::set<std::string, std::less<>> hosts;
  const std::lock_guard lock(mutex);
  if (hosts.contains(host)) return std::string(host);
  if (hosts.size() >= kMostHosts) return "other";
  return *hosts.emplace(host).first;
}

}  // namespace

CallMetrics::CallMetrics(std::string_view method, std::string_view host) : method_(method), host_(counted_host(host)) {}

void CallMetrics::sent(std::size_t bytes) const { call_families().sizes.observe({host_, method_}, static_cast<double>(bytes)); }
void CallMetrics::answered(int code) const { end(std::to_string(code)); }
void CallMetrics::failed() const { end("<error>"); }
void CallMetrics::end(std::string_view code) const {
  call_families().totals.add({code, host_, method_});
  call_families().durations.observe({host_, method_}, std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count());
}

}  // namespace backplane
