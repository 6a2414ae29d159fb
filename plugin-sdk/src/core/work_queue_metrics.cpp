#include "core/work_queue_metrics.hpp"

#include <algorithm>

namespace backplane::work_queues {
namespace {

struct WorkQueueFamilies {
  Metric& depth = Metric::gauge("workqueue_depth", "[BETA] Current depth of workqueue", {"name"});
  Metric& adds = Metric::counter("workqueue_adds_total", "[BETA] Total number of adds handled by workqueue", {"name"});
  Metric& waits =
      Metric::histogram("workqueue_queue_duration_seconds", "[BETA] How long in seconds an item stays in workqueue before being requested.",
                        {"name"}, exponential_bounds(10e-9, 10, 10));
  Metric& durations =
      Metric::histogram("workqueue_work_duration_seconds", "[BETA] How long in seconds processing an item from workqueue takes.", {"name"},
                        exponential_bounds(10e-9, 10, 10));
  Metric& unfinished = Metric::gauge("workqueue_unfinished_work_seconds",
                                     "[BETA] How many seconds of work has done that is in progress and hasn't been observed by "
                                     "work_duration. Large values indicate stuck threads. One can deduce the number of stuck threads by "
                                     "observing the rate at which this increases.",
                                     {"name"});
  Metric& longest = Metric::gauge("workqueue_longest_running_processor_seconds",
                                  "[BETA] How many seconds has the longest running processor for workqueue been running.", {"name"});
  Metric& retries = Metric::counter("workqueue_retries_total", "[BETA] Total number of retries handled by workqueue", {"name"});
};
WorkQueueFamilies& work_queue_families() {
  static WorkQueueFamilies all;
  return all;
}

}  // namespace

WorkQueueMetrics::WorkQueueMetrics(const std::string& name)
    : depth_(MetricCell::of(work_queue_families().depth, {name})),
      adds_(MetricCell::of(work_queue_families().adds, {name})),
      waits_(MetricCell::of(work_queue_families().waits, {name})),
      durations_(MetricCell::of(work_queue_families().durations, {name})),
      unfinished_(MetricCell::of(work_queue_families().unfinished, {name})),
      longest_(MetricCell::of(work_queue_families().longest, {name})),
      retries_(MetricCell::of(work_queue_families().retries, {name})) {}

void WorkQueueMetrics::added(const std::string& key) {
  if (!waiting_.emplace(key, Clock::now()).second) return;
  count(adds_);
  count(depth_);
}

void WorkQueueMetrics::observe_since(MetricCell* cell, std::map<std::string, Clock::time_point>& times, const std::string& key) {
  const auto found = times.find(key);
  if (found == times.end()) return;
  if (cell != nullptr) cell->observe(std::chrono::duration<double>(Clock::now() - found->second).count());
  times.erase(found);
}

void WorkQueueMetrics::taken(const std::string& key) {
  count(depth_, -1);
  observe_since(waits_, waiting_, key);
  started_.emplace(key, Clock::now());
}

void WorkQueueMetrics::done(const std::string& key) {
  observe_since(durations_, started_, key);
  if (started_.empty()) show_running();
}

void WorkQueueMetrics::cleared() {
  count(depth_, -static_cast<double>(waiting_.size()));
  waiting_.clear();
}

void WorkQueueMetrics::show_running() {
  double sum = 0, longest = 0;
  for (const auto& [_, start] : started_) {
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    sum += seconds;
    longest = std::max(longest, seconds);
  }
  count(unfinished_, sum - shown_unfinished_);
  shown_unfinished_ = sum;
  if (longest_ != nullptr) longest_->set(longest);
}

}  // namespace backplane::work_queues
