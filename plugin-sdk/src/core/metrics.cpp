#include "backplane/core/metrics.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <set>

#include "backplane/core/metric_registry.hpp"
#include "backplane/core/metric_view.hpp"
#include "core/metric_tables.hpp"

namespace backplane BACKPLANE_API {
namespace {

using namespace metric_tables;

// The address of the mapped file that contains `code`; null if no file does.  dladdr() waits while another thread loads a file, and the
// static initializers of a plugin may take any time.
const void* file_of(const void* code) noexcept {
  if (code == nullptr) return nullptr;
#ifdef DLFO_STRUCT_HAS_EH_DBASE  // glibc 2.35
  dl_find_object found;
  return ::_dl_find_object(const_cast<void*>(code), &found) == 0 ? found.dlfo_map_start : nullptr;
#else
  Dl_info info{};
  return ::dladdr(code, &info) != 0 ? info.dli_fbase : nullptr;
#endif
}

// One metric, and the mapped files that use it.
struct Definition {
  std::unique_ptr<Metric> metric;
  std::set<const void*> users;
};
// The metrics with one name, in the order of the first calls. A mapped file uses one of them: the one that it asked for last. The first one
// with a user is exposed. A definition without users is kept, because a reference to the metric may be left.
using Definitions = std::vector<Definition>;
struct Registry {
  std::mutex mutex;
  std::map<std::string, Definitions, std::less<>> metrics;
};

// Never destroyed, because plugins count until their last thread ends.
Registry& registry() {
  static Registry* const all = new Registry;
  return *all;
}

bool has_shape(const Metric::Snapshot& metric, const Metric::Snapshot& wanted) {
  return metric.kind == wanted.kind && metric.labels == wanted.labels && metric.bounds == wanted.bounds;
}

// `caller`: an address in the code that asks for the metric.
Metric& metric_of(const void* caller, Metric::Kind kind, std::string_view name, std::string_view help, std::vector<std::string> labels,
                  std::vector<double> bounds) {
  Metric::Snapshot empty;
  empty.name = name;
  empty.help = help;
  empty.kind = kind;
  empty.labels = std::move(labels);
  empty.bounds = std::move(bounds);
  const void* const user = file_of(caller);
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  Definitions& definitions = all.metrics[empty.name];
  auto found = std::find_if(definitions.begin(), definitions.end(),
                            [&](const Definition& each) { return has_shape(tables_of(*each.metric)->empty, empty); });
  if (found == definitions.end()) found = definitions.insert(found, Definition{std::make_unique<Metric>(std::move(empty)), {}});
  if (found->users.insert(user).second) {
    for (Definition& other : definitions) {
      if (&other != &*found) other.users.erase(user);
    }
  }
  return *found->metric;
}

// The definition that is exposed; null if there is none.
const Metric* exposed(const Definitions& definitions) {
  const auto found = std::find_if(definitions.begin(), definitions.end(), [](const Definition& each) { return !each.users.empty(); });
  return found == definitions.end() ? nullptr : found->metric.get();
}

bool uses_any(const Definitions& definitions, const void* file) {
  return std::any_of(definitions.begin(), definitions.end(), [file](const Definition& each) { return each.users.contains(file); });
}

}  // namespace

Metric& Metric::counter(std::string_view name, std::string_view help, std::vector<std::string> labels) {
  return metric_of(__builtin_return_address(0), Kind::kCounter, name, help, std::move(labels), {});
}
Metric& Metric::gauge(std::string_view name, std::string_view help, std::vector<std::string> labels) {
  return metric_of(__builtin_return_address(0), Kind::kGauge, name, help, std::move(labels), {});
}
Metric& Metric::histogram(std::string_view name, std::string_view help, std::vector<std::string> labels, std::vector<double> bounds) {
  return metric_of(__builtin_return_address(0), Kind::kHistogram, name, help, std::move(labels), std::move(bounds));
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

std::shared_ptr<void> withdraw_metrics(const void* code, const void* successor) {
  auto removed = std::make_shared<std::vector<CellTable::Cells>>();
  const void* const user = file_of(code);
  if (user == nullptr) return removed;
  const void* const next = file_of(successor);
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  for (auto& [_, definitions] : all.metrics) {
    for (Definition& definition : definitions) {
      if (definition.users.erase(user) == 0) continue;
      if (next != nullptr && !uses_any(definitions, next)) definition.users.insert(next);
      if (!definition.users.empty()) continue;
      tables_of(*definition.metric)->each([&removed](CellTable& table) { removed->push_back(table.take()); });
    }
  }
  return removed;
}

// ---- cells

MetricCell::MetricCell(HistogramBounds* bounds)
    : bounds_(bounds), buckets_(bounds != nullptr ? std::make_unique<std::atomic<std::uint64_t>[]>(bounds->values.size() + 1) : nullptr) {}
MetricCell::~MetricCell() = default;

MetricCell* MetricCell::of(Metric& metric, Values values) {
  MetricCell* out = nullptr;
  if (SlotTables* const tables = tables_of(metric)) tables->here().with(values, [&out](MetricCell& cell) { out = &cell; });
  return out;
}

void MetricCell::observe(double measured) noexcept {
  if (bounds_ == nullptr) return;
  const std::vector<double>& bounds = bounds_->values;
  const auto bucket = std::lower_bound(bounds.begin(), bounds.end(), measured) - bounds.begin();
  buckets_[static_cast<std::size_t>(bucket)].fetch_add(1, std::memory_order_relaxed);
  const double before = value_.fetch_add(measured, std::memory_order_release);
  if (!(before + measured > before)) bounds_->unsummed.fetch_add(1, std::memory_order_release);
}

void MetricCell::reset() noexcept {
  for (std::size_t i = 0; bounds_ != nullptr && i <= bounds_->values.size(); ++i) buckets_[i].store(0, std::memory_order_relaxed);
  value_.store(0, std::memory_order_relaxed);
}

Metric::Series MetricCell::series() const {
  Metric::Series out;
  out.value = value_.load(std::memory_order_relaxed);
  for (std::size_t i = 0; bounds_ != nullptr && i <= bounds_->values.size(); ++i) {
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
  std::vector<Snapshot> out;
  for (const Metric* metric : MetricView::metrics()) {
    Snapshot now = metric->snapshot();
    if (!now.series.empty()) out.push_back(std::move(now));
  }
  return out;
}

std::vector<const Metric*> MetricView::metrics() {
  Registry& known = registry();
  const std::lock_guard lock(known.mutex);
  std::vector<const Metric*> out;
  out.reserve(known.metrics.size());
  for (const auto& [_, definitions] : known.metrics) {
    if (const Metric* const metric = exposed(definitions)) out.push_back(metric);
  }
  return out;
}

std::vector<double> exponential_bounds(double first, double factor, std::size_t count) {
  std::vector<double> bounds;
  for (std::size_t i = 0; i < count; ++i, first *= factor) bounds.push_back(first);
  return bounds;
}

}  // namespace BACKPLANE_API
