#include "backplane/core/metrics.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "backplane/core/metric_cell.hpp"
#include "backplane/core/metric_registry.hpp"
#include "core/thread_slot.hpp"

namespace backplane BACKPLANE_API {
namespace {

using Values = std::initializer_list<std::string_view>;

// The label values of a series in one text, each followed by a zero byte; empty ones at the end are left out.  There may be ten series
// per resource.
using Key = std::string;

// The number of values without empty ones at the end.
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

// The series of one metric in one slot.
struct CellTable {
  explicit CellTable(const Metric::Snapshot& of) : empty(of) {}

  // Applies `change` to the series of `values`, unless there are too many series.
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
  void forget(Values values) {
    const std::unique_lock lock(mutex);
    const auto found = cells.find(values);
    if (found != cells.end()) cells.erase(found);
  }
  void reset() {
    const std::unique_lock lock(mutex);
    was_reset = true;
    for (auto& [_, cell] : cells) cell.reset();
  }
  // Adds the series to `out`; a gauge replaces an existing value.
  void add_to(Metric::Snapshot& out) const {
    const std::shared_lock lock(mutex);
    for (const auto& [key, cell] : cells) {
      Metric::Series series = cell.series();
      if (was_reset && series.value == 0 && series.count == 0) continue;
      const auto [there, added] = out.series.try_emplace(texts_of(key, out.labels.size()), series);
      if (added) continue;
      Metric::Series& sum = there->second;
      sum.value = empty.kind == Metric::Kind::kGauge ? series.value : sum.value + series.value;
      sum.count += series.count;
      for (std::size_t i = 0; i < sum.buckets.size(); ++i) sum.buckets[i] += series.buckets[i];
    }
  }

  const Metric::Snapshot& empty;    // of the metric, which outlives its tables
  mutable std::shared_mutex mutex;  // counting locks it shared
  std::unordered_map<Key, MetricCell, KeyHash, KeyEqual> cells;
  bool was_reset = false;
};

constexpr std::size_t kSlots = kMostServers + 1;

// The series of one metric in all slots.
struct SlotTables {
  explicit SlotTables(Metric::Snapshot what) : empty(std::move(what)) {}

  // The table of `slot`, created by the first call.
  CellTable& table(ServerSlot slot) {
    if (CellTable* const found = tables[slot].load(std::memory_order_acquire)) return *found;
    const std::lock_guard lock(making);
    if (CellTable* const found = tables[slot].load(std::memory_order_acquire)) return *found;
    made.push_back(std::make_unique<CellTable>(empty));
    tables[slot].store(made.back().get(), std::memory_order_release);
    return *made.back();
  }
  CellTable& here() { return table(t_server_slot); }
  CellTable* find(ServerSlot slot) const noexcept { return tables[slot].load(std::memory_order_acquire); }
  // The next server of the slot begins with a new table. The former one stays, because cells of it may be in use.
  void release(ServerSlot slot) noexcept { tables[slot].store(nullptr, std::memory_order_release); }
  // Calls `visit` for each table that the thread's server exposes: those of the process and its own; without a server, all.
  template <class Visit>
  void each_exposed(const Visit& visit) const {
    for (ServerSlot slot = 0; slot < kSlots; ++slot) {
      CellTable* const found = t_server_slot == 0 || slot == 0 || slot == t_server_slot ? find(slot) : nullptr;
      if (found != nullptr) visit(*found);
    }
  }

  const Metric::Snapshot empty;
  std::array<std::atomic<CellTable*>, kSlots> tables{};
  std::mutex making;
  std::vector<std::unique_ptr<CellTable>> made;
};

// All metrics with their tables.
struct KnownTables {
  std::mutex mutex;
  std::map<const Metric*, SlotTables*> of;
};
KnownTables& known_tables() {
  static auto* const all = new KnownTables;
  return *all;
}
SlotTables* tables_of(const Metric& metric) {
  KnownTables& all = known_tables();
  const std::lock_guard lock(all.mutex);
  const auto found = all.of.find(&metric);
  return found == all.of.end() ? nullptr : found->second;
}

struct Registry {
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<Metric>, std::less<>> metrics;
};

// Never destroyed, because plugins count until their last thread has ended.
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

struct Metric::Cells : SlotTables {
  using SlotTables::SlotTables;
};

Metric::Metric(Snapshot empty) : cells_(std::make_unique<Cells>(std::move(empty))) {
  KnownTables& all = known_tables();
  const std::lock_guard lock(all.mutex);
  all.of[this] = cells_.get();
}
Metric::~Metric() {
  KnownTables& all = known_tables();
  const std::lock_guard lock(all.mutex);
  all.of.erase(this);
}

void Metric::add(Values values, double amount) {
  cells_->here().with(values, [amount](MetricCell& cell) { cell.add(amount); });
}

void Metric::set(Values values, double value) {
  cells_->here().with(values, [value](MetricCell& cell) { cell.set(value); });
}

void Metric::observe(Values values, double measured) {
  cells_->here().with(values, [measured](MetricCell& cell) { cell.observe(measured); });
}

void Metric::forget(Values values) { cells_->here().forget(values); }

Metric::Snapshot Metric::snapshot() const {
  Snapshot out = cells_->empty;
  cells_->each_exposed([&out](const CellTable& table) { table.add_to(out); });
  return out;
}

// ---- servers

MetricRegistry::~MetricRegistry() {
  if (slot_ == kNoServer) return;
  KnownTables& all = known_tables();
  const std::lock_guard lock(all.mutex);
  for (const auto& [_, tables] : all.of) tables->release(slot_);
}

// ---- cells

MetricCell::MetricCell(const std::vector<double>* bounds)
    : bounds_(bounds), buckets_(bounds != nullptr ? std::make_unique<std::atomic<std::uint64_t>[]>(bounds->size() + 1) : nullptr) {}
MetricCell::~MetricCell() = default;

MetricCell* MetricCell::of(Metric& metric, Values values) {
  MetricCell* out = nullptr;
  if (SlotTables* const tables = tables_of(metric)) tables->here().with(values, [&out](MetricCell& cell) { out = &cell; });
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
  const SlotTables* const tables = tables_of(metric);
  if (tables == nullptr || tables->empty.kind == Metric::Kind::kGauge) return;
  tables->each_exposed([](CellTable& table) { table.reset(); });
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
