#include "backplane/metrics.hpp"

#include <algorithm>
#include <memory>

namespace backplane BACKPLANE_API {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<Metric>, std::less<>> metrics;
};

// Never destroyed: plugins count until the last of their threads has ended.
Registry& registry() {
  static Registry* const all = new Registry;
  return *all;
}

Metric& metric_of(Metric::Kind kind, std::string_view name, std::string_view help, std::vector<std::string> labels,
                  std::vector<double> bounds) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const auto found = all.metrics.find(name);
  if (found != all.metrics.end()) return *found->second;
  Metric::Snapshot empty;
  empty.name = name;
  empty.help = help;
  empty.kind = kind;
  empty.labels = std::move(labels);
  empty.bounds = std::move(bounds);
  auto made = std::make_unique<Metric>(std::move(empty));
  return *all.metrics.emplace(name, std::move(made)).first->second;
}

}  // namespace

Metric& Metric::counter(std::string_view name, std::string_view help, std::vector<std::string> labels) {
  return metric_of(Kind::kCounter, name, help, std::move(labels), {});
}
Metric& Metric::gauge(std::string_view name, std::string_view help, std::vector<std::string> labels) {
  return metric_of(Kind::kGauge, name, help, std::move(labels), {});
}
Metric& Metric::histogram(std::string_view name, std::string_view help, std::vector<std::string> labels, std::vector<double> bounds) {
  return metric_of(Kind::kHistogram, name, help, std::move(labels), std::move(bounds));
}

Metric::Series* Metric::series(std::initializer_list<std::string_view> values) {
  std::vector<std::string> key(values.begin(), values.end());
  key.resize(state_.labels.size());
  const auto found = state_.series.find(key);
  if (found != state_.series.end()) return &found->second;
  return state_.series.size() < kMostSeries ? &state_.series[std::move(key)] : nullptr;
}

void Metric::add(std::initializer_list<std::string_view> values, double amount) {
  const std::lock_guard lock(mutex_);
  if (Series* at = series(values)) at->value += amount;
}

void Metric::set(std::initializer_list<std::string_view> values, double value) {
  const std::lock_guard lock(mutex_);
  if (Series* at = series(values)) at->value = value;
}

void Metric::observe(std::initializer_list<std::string_view> values, double measured) {
  const std::lock_guard lock(mutex_);
  Series* at = series(values);
  if (at == nullptr) return;
  at->buckets.resize(state_.bounds.size());
  const auto bucket = std::lower_bound(state_.bounds.begin(), state_.bounds.end(), measured);
  if (bucket != state_.bounds.end()) ++at->buckets[static_cast<std::size_t>(bucket - state_.bounds.begin())];
  at->value += measured;
  ++at->count;
}

void Metric::forget(std::initializer_list<std::string_view> values) {
  const std::lock_guard lock(mutex_);
  state_.series.erase(std::vector<std::string>(values.begin(), values.end()));
}

std::vector<Metric::Snapshot> Metric::all() {
  std::vector<Metric*> metrics;
  {
    Registry& known = registry();
    const std::lock_guard lock(known.mutex);
    for (const auto& [name, metric] : known.metrics) metrics.push_back(metric.get());
  }
  std::vector<Snapshot> out;
  for (const Metric* metric : metrics) {
    const std::lock_guard lock(metric->mutex_);
    if (!metric->state_.series.empty()) out.push_back(metric->state_);
  }
  return out;
}

std::vector<double> exponential_bounds(double first, double factor, std::size_t count) {
  std::vector<double> bounds;
  for (std::size_t i = 0; i < count; ++i, first *= factor) bounds.push_back(first);
  return bounds;
}

}  // namespace BACKPLANE_API
