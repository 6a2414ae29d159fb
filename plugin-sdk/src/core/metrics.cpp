#include "backplane/core/metrics.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "backplane/core/metric_cell.hpp"

namespace backplane BACKPLANE_API {
namespace {

using Values = std::initializer_list<std::string_view>;

// The texts of a series' labels in one, each with a zero behind it; those at the end that are empty are left out.  There may be ten series
// for each resource.
using Key = std::string;

// How many of them count.
std::size_t count_of(Values values) noexcept {
  std::size_t count = values.size();
  while (count > 0 && (values.begin() + count - 1)->empty()) --count;
  return count;
}

Key key_of(Values values) {
  const std::size_t count = count_of(values);
  std::size_t size = count;
  for (const std::string_view text : values) size += text.size();
  Key out;
  out.reserve(size);
  for (std::size_t i = 0; i < count; ++i) out.append(*(values.begin() + i)).push_back('\0');
  return out;
}

std::vector<std::string> texts_of(const Key& key, std::size_t labels) {
  std::vector<std::string> out;
  for (std::size_t from = 0; from < key.size();) {
    const std::size_t end = key.find('\0', from);
    out.push_back(key.substr(from, end - from));
    from = end + 1;
  }
  out.resize(labels);
  return out;
}

struct KeyHash {
  using is_transparent = void;
  static std::size_t add(std::size_t out, std::string_view text) noexcept { return out * 1'000'003 + std::hash<std::string_view>()(text); }
  std::size_t operator()(Values values) const noexcept {
    std::size_t out = 0;
    for (std::size_t i = 0; i < count_of(values); ++i) out = add(out, *(values.begin() + i));
    return out;
  }
  std::size_t operator()(const Key& key) const noexcept {
    std::size_t out = 0;
    for (std::string_view rest = key; !rest.empty();) {
      const std::size_t end = rest.find('\0');
      out = add(out, rest.substr(0, end));
      rest.remove_prefix(end + 1);
    }
    return out;
  }
};
struct KeyEqual {
  using is_transparent = void;
  bool operator()(const Key& one, const Key& other) const noexcept { return one == other; }
  bool operator()(Values values, const Key& key) const noexcept { return (*this)(key, values); }
  bool operator()(const Key& key, Values values) const noexcept {
    std::string_view rest = key;
    for (std::size_t i = 0; i < count_of(values); ++i) {
      const std::string_view text = *(values.begin() + i);
      if (rest.size() <= text.size() || rest.substr(0, text.size()) != text || rest[text.size()] != '\0') return false;
      rest.remove_prefix(text.size() + 1);
    }
    return rest.empty();
  }
};

// The series of one metric.
struct CellTable {
  explicit CellTable(Metric::Snapshot what) : empty(std::move(what)) {}

  // Does `change` to the series of `values`, unless there are too many.
  template <class Change>
  void with(Values values, const Change& change) {
    {
      const std::shared_lock lock(mutex);
      const auto found = cells.find(values);
      if (found != cells.end()) return change(found->second);
    }
    Key key = key_of(values);
    const std::unique_lock lock(mutex);
    if (cells.size() < Metric::kMostSeries || cells.contains(values)) change(cells.try_emplace(std::move(key), bounds()).first->second);
  }
  const std::vector<double>* bounds() const noexcept { return empty.kind == Metric::Kind::kHistogram ? &empty.bounds : nullptr; }

  const Metric::Snapshot empty;
  mutable std::shared_mutex mutex;  // counting takes it shared
  std::unordered_map<Key, MetricCell, KeyHash, KeyEqual> cells;
  bool was_reset = false;
};

// By their metrics.
struct CellTables {
  std::mutex mutex;
  std::map<const Metric*, CellTable*> of;
};
CellTables& cell_tables() {
  static auto* const all = new CellTables;
  return *all;
}
CellTable* table_of(const Metric& metric) {
  CellTables& all = cell_tables();
  const std::lock_guard lock(all.mutex);
  const auto found = all.of.find(&metric);
  return found == all.of.end() ? nullptr : found->second;
}

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

struct Metric::Cells : CellTable {
  using CellTable::CellTable;
};

Metric::Metric(Snapshot empty) : cells_(std::make_unique<Cells>(std::move(empty))) {
  CellTables& all = cell_tables();
  const std::lock_guard lock(all.mutex);
  all.of[this] = cells_.get();
}
Metric::~Metric() {
  CellTables& all = cell_tables();
  const std::lock_guard lock(all.mutex);
  all.of.erase(this);
}

void Metric::add(Values values, double amount) {
  cells_->with(values, [amount](MetricCell& cell) { cell.add(amount); });
}

void Metric::set(Values values, double value) {
  cells_->with(values, [value](MetricCell& cell) { cell.set(value); });
}

void Metric::observe(Values values, double measured) {
  cells_->with(values, [measured](MetricCell& cell) { cell.observe(measured); });
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
    Series series = cell.series();
    if (cells_->was_reset && series.value == 0 && series.count == 0) continue;
    out.series.emplace(texts_of(key, out.labels.size()), std::move(series));
  }
  return out;
}

// ---- cells

MetricCell::MetricCell(const std::vector<double>* bounds)
    : bounds_(bounds), buckets_(bounds != nullptr ? std::make_unique<std::atomic<std::uint64_t>[]>(bounds->size() + 1) : nullptr) {}
MetricCell::~MetricCell() = default;

MetricCell* MetricCell::of(Metric& metric, Values values) {
  MetricCell* out = nullptr;
  if (CellTable* table = table_of(metric)) table->with(values, [&out](MetricCell& cell) { out = &cell; });
  return out;
}

void MetricCell::observe(double measured) noexcept {
  if (bounds_ == nullptr) return;
  const auto bucket = std::lower_bound(bounds_->begin(), bounds_->end(), measured) - bounds_->begin();
  buckets_[static_cast<std::size_t>(bucket)].fetch_add(1, std::memory_order_relaxed);
  value_.fetch_add(measured, std::memory_order_relaxed);
}

void MetricCell::reset() noexcept {
  for (std::size_t i = 0; bounds_ != nullptr && i <= bounds_->size(); ++i) buckets_[i].store(0, std::memory_order_relaxed);
  value_.store(0, std::memory_order_relaxed);
}

Metric::Series MetricCell::series() const {
  Metric::Series out;
  out.value = value_.load(std::memory_order_relaxed);
  for (std::size_t i = 0; bounds_ != nullptr && i <= bounds_->size(); ++i) {
    out.count += out.buckets.emplace_back(buckets_[i].load(std::memory_order_relaxed));
  }
  if (!out.buckets.empty()) out.buckets.pop_back();
  return out;
}

void reset_metric(Metric& metric) {
  CellTable* const table = table_of(metric);
  if (table == nullptr || table->empty.kind == Metric::Kind::kGauge) return;
  const std::unique_lock lock(table->mutex);
  table->was_reset = true;
  for (auto& [_, cell] : table->cells) cell.reset();
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
