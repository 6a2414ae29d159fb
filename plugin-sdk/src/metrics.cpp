#include "backplane/metrics.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

namespace backplane BACKPLANE_API {
namespace {

using Key = std::vector<std::string>;
using Values = std::initializer_list<std::string_view>;

// A key has a text for each label, of which those at the end may be left out.
struct KeyHash {
  using is_transparent = void;
  template <class Texts>
  std::size_t operator()(const Texts& texts) const noexcept {
    std::size_t out = 0;
    for (const std::string_view text : texts) {
      if (!text.empty()) out = out * 1'000'003 + std::hash<std::string_view>()(text);
    }
    return out;
  }
};
struct KeyEqual {
  using is_transparent = void;
  template <class One, class Other>
  bool operator()(const One& one, const Other& other) const noexcept {
    auto a = one.begin();
    auto b = other.begin();
    for (; a != one.end() && b != other.end(); ++a, ++b) {
      if (std::string_view(*a) != std::string_view(*b)) return false;
    }
    const auto empty = [](std::string_view text) { return text.empty(); };
    return std::all_of(a, one.end(), empty) && std::all_of(b, other.end(), empty);
  }
};

// What is counted under one set of labels.
struct Cell {
  explicit Cell(std::size_t bounds) : buckets(bounds + 1) {}

  std::atomic<double> value{0};
  std::vector<std::atomic<std::uint64_t>> buckets;  // the last: above all bounds
};

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

struct Metric::Cells {
  explicit Cells(Snapshot what) : empty(std::move(what)) {}

  // Does `change` to the series of `values`, unless there are too many.
  template <class Change>
  void with(Values values, const Change& change) {
    {
      const std::shared_lock lock(mutex);
      const auto found = cells.find(values);
      if (found != cells.end()) return change(found->second);
    }
    Key key(values.begin(), values.end());
    key.resize(empty.labels.size());
    const std::unique_lock lock(mutex);
    if (cells.size() < kMostSeries || cells.contains(values)) change(cells.try_emplace(std::move(key), empty.bounds.size()).first->second);
  }

  const Snapshot empty;
  mutable std::shared_mutex mutex;  // for whoever counts: shared
  std::unordered_map<Key, Cell, KeyHash, KeyEqual> cells;
};

Metric::Metric(Snapshot empty) : cells_(std::make_unique<Cells>(std::move(empty))) {}
Metric::~Metric() = default;

void Metric::add(Values values, double amount) {
  cells_->with(values, [amount](Cell& cell) { cell.value.fetch_add(amount, std::memory_order_relaxed); });
}

void Metric::set(Values values, double value) {
  cells_->with(values, [value](Cell& cell) { cell.value.store(value, std::memory_order_relaxed); });
}

void Metric::observe(Values values, double measured) {
  const std::vector<double>& bounds = cells_->empty.bounds;
  const auto bucket = static_cast<std::size_t>(std::lower_bound(bounds.begin(), bounds.end(), measured) - bounds.begin());
  cells_->with(values, [measured, bucket](Cell& cell) {
    cell.buckets[bucket].fetch_add(1, std::memory_order_relaxed);
    cell.value.fetch_add(measured, std::memory_order_relaxed);
  });
}

void Metric::forget(Values values) {
  const std::unique_lock lock(cells_->mutex);
  const auto found = cells_->cells.find(values);
  if (found != cells_->cells.end()) cells_->cells.erase(found);
}

Metric::Snapshot Metric::snapshot() const {
  Snapshot out = cells_->empty;
  const std::shared_lock lock(cells_->mutex);
  for (const auto& [key, cell] : cells_->cells) {
    Series series;
    series.value = cell.value.load(std::memory_order_relaxed);
    for (const auto& bucket : cell.buckets) series.count += series.buckets.emplace_back(bucket.load(std::memory_order_relaxed));
    series.buckets.pop_back();
    out.series.emplace(key, std::move(series));
  }
  return out;
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
    Snapshot now = metric->snapshot();
    if (!now.series.empty()) out.push_back(std::move(now));
  }
  return out;
}

std::vector<double> exponential_bounds(double first, double factor, std::size_t count) {
  std::vector<double> bounds;
  for (std::size_t i = 0; i < count; ++i, first *= factor) bounds.push_back(first);
  return bounds;
}

}  // namespace BACKPLANE_API
