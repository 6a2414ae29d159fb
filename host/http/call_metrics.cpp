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

// Returns the cell that is stored in `place`. The first call stores the result of `find` there.
template <class Find>
MetricCell* cell_at(std::atomic<MetricCell*>& place, const Find& find) {
  if (MetricCell* const cell = place.load(std::memory_order_acquire)) return cell;
  MetricCell* const cell = find();
  place.store(cell, std::memory_order_release);
  return cell;
}

}  // namespace

CallSeries::OfMethod* CallSeries::of(std::string_view method) noexcept {
  if (method == "GET") return &get_;
  if (method == "POST") return &post_;
  if (method == "PUT") return &put_;
  if (method == "PATCH") return &patch_;
  return method == "DELETE" ? &delete_ : nullptr;
}

CallMetrics::CallMetrics(std::string_view method, std::string_view host) : method_(method), host_(counted_host(host)) {}
CallMetrics::CallMetrics(std::string_view method, CallSeries& series)
    : method_(method), series_(series.of(method)), client_host_(series.host()) {
  if (series_ == nullptr) host_ = counted_host(client_host_);
}

void CallMetrics::sent(std::size_t bytes) const {
  const auto size = static_cast<double>(bytes);
  if (series_ == nullptr) return call_families().sizes.observe({host_, method_}, size);
  const auto find = [this] { return MetricCell::of(call_families().sizes, {counted_host(client_host_), method_}); };
  if (MetricCell* const cell = cell_at(series_->sizes, find)) cell->observe(size);
}

void CallMetrics::answered(int code) const {
  if (series_ == nullptr || code != 200) return end(std::to_string(code));
  const auto find = [this] { return MetricCell::of(call_families().totals, {"200", counted_host(client_host_), method_}); };
  if (MetricCell* const cell = cell_at(series_->ok, find)) cell->add();
  observe_duration();
}

void CallMetrics::failed() const { end("<error>"); }

void CallMetrics::end(std::string_view code) const {
  call_families().totals.add({code, series_ == nullptr ? host_ : counted_host(client_host_), method_});
  observe_duration();
}

void CallMetrics::observe_duration() const {
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  if (series_ == nullptr) return call_families().durations.observe({host_, method_}, seconds);
  const auto find = [this] { return MetricCell::of(call_families().durations, {counted_host(client_host_), method_}); };
  if (MetricCell* const cell = cell_at(series_->durations, find)) cell->observe(seconds);
}

}  // namespace backplane
