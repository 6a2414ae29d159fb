#include "backplane/core/metric_view.hpp"

#include <algorithm>
#include <bit>
#include <shared_mutex>
#include <unordered_map>
#include <utility>

#include "core/metric_tables.hpp"

namespace backplane BACKPLANE_API {

using metric_tables::CellTable;
using metric_tables::SlotTables;
using metric_tables::StoredSeries;

struct MetricView::State {
  // A series in one table. A row, that is, a set of label values, has one part for each table that contains it.
  struct Part {
    const std::string* key;
    const StoredSeries* stored;
    bool hides_zero;  // the table was reset, so a series with the value 0 is not exposed

    bool exposed(std::size_t buckets) const noexcept {
      return !hides_zero || stored->cell.value() != 0 || count_of(stored->cell, buckets) != 0;
    }
  };
  struct Row {
    std::uint64_t id = 0;
    std::uint32_t first = 0, parts = 0;
  };
  using Source = std::pair<CellTable*, std::uint64_t>;  // a table and its version

  explicit State(SlotTables& all) : tables(all), buckets(all.empty.kind == Metric::Kind::kHistogram ? all.empty.bounds.size() + 1 : 0) {}

  static std::uint64_t count_of(const MetricCell& cell, std::size_t buckets) noexcept {
    const auto* const counts = cell.buckets();
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < buckets; ++i) sum += counts[i].load(std::memory_order_relaxed);
    return sum;
  }

  void lock();
  void list();
  void compare();
  bool exposed(const Row& row) const noexcept;
  double value_of(const Row& row) const noexcept;
  std::span<const Part> parts_of(const Row& row) const noexcept { return {parts.data() + row.first, row.parts}; }

  SlotTables& tables;
  const std::size_t buckets;  // number of buckets of each series; 0: not a histogram
  std::vector<std::shared_lock<std::shared_mutex>> locks;
  std::vector<Source> sources;  // the tables from which `rows` were made
  std::vector<Part> parts;
  std::vector<Row> rows;
  std::vector<std::uint32_t> former;
  std::vector<std::uint8_t> changed;
  std::uint64_t resets = 0;  // of the tables in `sources`

  // One element for each row; separate vectors, because each reading visits all elements.
  std::vector<const MetricCell*> cells;  // null: the row has several parts, or its table was reset
  std::vector<double> values;            // the values of the last reading
  // For histograms. An observation either changes the sum or is counted in `unsummed`. If `unsummed` has changed, the counts are compared
  // too. Counts only increase, so equal counts mean equal buckets.
  std::vector<std::uint64_t> counts;
  std::uint64_t unsummed = 0;
};

void MetricView::State::lock() {
  std::vector<Source> now;
  tables.each_exposed([&](CellTable& table) {
    locks.emplace_back(table.mutex);
    now.emplace_back(&table, table.version);
  });
  former.clear();
  changed.assign(rows.size(), 0);
  if (now != sources) {
    sources = std::move(now);
    list();
  }
  compare();
}

// Rebuilds the rows and `former`.
void MetricView::State::list() {
  std::unordered_map<std::uint64_t, std::uint32_t> places;
  for (std::size_t i = 0; i < rows.size(); ++i) places.emplace(rows[i].id, static_cast<std::uint32_t>(i));
  rows.clear();
  parts.clear();
  cells.clear();
  const std::uint64_t old_resets = std::exchange(resets, 0);
  for (const auto& [table, _] : sources) {
    resets += table->resets;
    for (const auto& [key, stored] : table->cells) parts.push_back({&key, &stored, table->resets != 0});
  }
  // The tables of the process precede those of the server: value_of() needs that order for gauges.
  std::stable_sort(parts.begin(), parts.end(), [](const Part& one, const Part& other) { return *one.key < *other.key; });
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i == 0 || *parts[i].key != *parts[i - 1].key) rows.push_back({0, static_cast<std::uint32_t>(i), 0});
    rows.back().id = rows.back().id * 1'000'003 + parts[i].stored->id;
    ++rows.back().parts;
  }
  const std::vector<double> old_values = std::move(values);
  const std::vector<std::uint64_t> old_counts = std::move(counts);
  values.assign(rows.size(), 0);
  counts.assign(buckets != 0 ? rows.size() : 0, 0);
  // After a reset, new observations may have the same sum as before, and a series whose value was 0 is hidden. So all values count as
  // changed.
  changed.assign(rows.size(), resets != old_resets ? 1 : 0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto found = places.find(rows[i].id);
    former.push_back(found == places.end() ? kNew : found->second);
    cells.push_back(rows[i].parts == 1 && !parts[rows[i].first].hides_zero ? &parts[rows[i].first].stored->cell : nullptr);
    if (found == places.end()) continue;
    values[i] = old_values[found->second];
    if (buckets != 0) counts[i] = old_counts[found->second];
  }
}

// Prefetches cells, because series are scattered in memory and a reading would otherwise wait for each of them.
void MetricView::State::compare() {
  constexpr std::size_t kAhead = 16;
  const std::uint64_t now = tables.bounds.unsummed.load(std::memory_order_acquire);
  const bool compares_counts = buckets != 0 && std::exchange(unsummed, now) != now;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i + kAhead < cells.size()) __builtin_prefetch(cells[i + kAhead]);
    const MetricCell* const cell = cells[i];
    const double value = cell != nullptr ? cell->value() : value_of(rows[i]);
    // Compares the bits, because NaN is not equal to itself.
    bool same = std::bit_cast<std::uint64_t>(value) == std::bit_cast<std::uint64_t>(values[i]);
    values[i] = value;
    if (compares_counts || (buckets != 0 && !same)) {
      std::uint64_t count = 0;
      for (const Part& part : parts_of(rows[i])) count += count_of(part.stored->cell, buckets);
      same = same && count == counts[i];
      counts[i] = count;
    }
    if (!same) changed[i] = 1;
    if (!former.empty() && former[i] == kNew) changed[i] = 0;
  }
}

bool MetricView::State::exposed(const Row& row) const noexcept {
  const auto all = parts_of(row);
  return std::any_of(all.begin(), all.end(), [this](const Part& part) { return part.exposed(buckets); });
}

// Returns the value of a row. For a gauge, the value of the server replaces that of the process.
double MetricView::State::value_of(const Row& row) const noexcept {
  const bool gauge = tables.empty.kind == Metric::Kind::kGauge;
  double out = 0;
  for (const Part& part : parts_of(row)) {
    if (!part.exposed(buckets)) continue;
    const double value = part.stored->cell.value();
    out = gauge ? value : out + value;
  }
  return out;
}

MetricView::MetricView(const Metric& metric) : state_(std::make_unique<State>(*metric_tables::tables_of(metric))) {}
MetricView::~MetricView() = default;

const Metric::Snapshot& MetricView::about() const noexcept { return state_->tables.empty; }
MetricView::Reading MetricView::read() { return Reading(*state_); }

MetricView::Reading::Reading(State& state) : state_(state) { state_.lock(); }
MetricView::Reading::~Reading() { state_.locks.clear(); }

std::size_t MetricView::Reading::size() const noexcept { return state_.rows.size(); }
std::span<const std::uint32_t> MetricView::Reading::former() const noexcept { return state_.former; }
std::span<const std::uint8_t> MetricView::Reading::changed() const noexcept { return state_.changed; }

std::string_view MetricView::Reading::labels(std::size_t series) const noexcept { return *state_.parts[state_.rows[series].first].key; }

bool MetricView::Reading::exposed(std::size_t series) const noexcept { return state_.exposed(state_.rows[series]); }

double MetricView::Reading::value(std::size_t series) const noexcept { return state_.value_of(state_.rows[series]); }

void MetricView::Reading::buckets(std::size_t series, std::span<std::uint64_t> counts) const noexcept {
  std::fill(counts.begin(), counts.end(), 0);
  for (const State::Part& part : state_.parts_of(state_.rows[series])) {
    const auto* const buckets = part.stored->cell.buckets();
    for (std::size_t i = 0; i < state_.buckets && i < counts.size(); ++i) counts[i] += buckets[i].load(std::memory_order_relaxed);
  }
}

}  // namespace BACKPLANE_API
