// The values of all metrics: one table of series for each metric and server.
//
// Thread-safety: any thread. Counting locks a table shared; creating and forgetting series locks it exclusively.
// Lifetime:      tables live as long as their metric. Cells live until forget().
// Errors:        none; a table that is full creates no series.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "backplane/core/metric_cell.hpp"
#include "backplane/core/metrics.hpp"
#include "core/thread_slot.hpp"

namespace backplane BACKPLANE_API {

struct HistogramBounds {
  const std::vector<double>& values;
  // Observations that did not increase the sum of their cell, such as 0. All other observations are detected by the sum.
  std::atomic<std::uint64_t> unsummed{0};
};

}  // namespace BACKPLANE_API

namespace backplane::metric_tables {

using Values = std::initializer_list<std::string_view>;

// The label values of a series in one text, each followed by a zero byte; empty ones at the end are left out.  There may be ten series
// per resource.
using Key = std::string;

// The number of values without empty ones at the end.
inline std::size_t count_of(Values values) noexcept {
  std::size_t count = values.size();
  while (count > 0 && (values.begin() + count - 1)->empty()) --count;
  return count;
}

inline Key key_of(Values values) {
  const std::size_t count = count_of(values);
  std::size_t size = count;
  for (const std::string_view text : values) size += text.size();
  Key out;
  out.reserve(size);
  for (std::size_t i = 0; i < count; ++i) out.append(*(values.begin() + i)).push_back('\0');
  return out;
}

inline std::vector<std::string> texts_of(const Key& key, std::size_t labels) {
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

// One series. The id is unique in the process, so that a reader recognizes the series after others have been created or forgotten.
struct StoredSeries {
  explicit StoredSeries(HistogramBounds* bounds) : cell(bounds) {}
  static std::uint64_t next_id() noexcept {
    static std::atomic<std::uint64_t> last{0};
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
  }

  MetricCell cell;
  const std::uint64_t id = next_id();
};

// The series of one metric in one slot.
struct CellTable {
  CellTable(const Metric::Snapshot& of, HistogramBounds* of_bounds) : empty(of), bounds(of_bounds) {}

  // Applies `change` to the series of `values`, unless there are too many series.
  template <class Change>
  void with(Values values, const Change& change) {
    {
      const std::shared_lock lock(mutex);
      const auto found = cells.find(values);
      if (found != cells.end()) return change(found->second.cell);
    }
    Key key = key_of(values);
    const std::unique_lock lock(mutex);
    if (cells.size() >= Metric::kMostSeries && !cells.contains(values)) return;
    const auto [there, added] = cells.try_emplace(std::move(key), bounds);
    if (added) ++version;
    change(there->second.cell);
  }
  void forget(Values values) {
    const std::unique_lock lock(mutex);
    const auto found = cells.find(values);
    if (found == cells.end()) return;
    cells.erase(found);
    ++version;
  }
  void reset() {
    const std::unique_lock lock(mutex);
    ++resets;
    ++version;
    for (auto& [_, series] : cells) series.cell.reset();
  }
  // Adds the series to `out`; a gauge replaces an existing value.
  void add_to(Metric::Snapshot& out) const {
    const std::shared_lock lock(mutex);
    for (const auto& [key, stored] : cells) {
      Metric::Series series = stored.cell.series();
      if (resets != 0 && series.value == 0 && series.count == 0) continue;
      const auto [there, added] = out.series.try_emplace(texts_of(key, out.labels.size()), series);
      if (added) continue;
      Metric::Series& sum = there->second;
      sum.value = empty.kind == Metric::Kind::kGauge ? series.value : sum.value + series.value;
      sum.count += series.count;
      for (std::size_t i = 0; i < sum.buckets.size(); ++i) sum.buckets[i] += series.buckets[i];
    }
  }

  const Metric::Snapshot& empty;    // of the metric, which outlives its tables
  HistogramBounds* const bounds;    // null: not a histogram
  mutable std::shared_mutex mutex;  // counting locks it shared
  std::unordered_map<Key, StoredSeries, KeyHash, KeyEqual> cells;
  std::uint64_t resets = 0;   // if it was reset, series without counts are not exposed
  std::uint64_t version = 0;  // changes whenever a series is created or forgotten, and at a reset
};

inline constexpr std::size_t kSlots = kMostServers + 1;

// The series of one metric in all slots.
struct SlotTables {
  explicit SlotTables(Metric::Snapshot what) : empty(std::move(what)) {}

  // The table of `slot`, created by the first call.
  CellTable& table(ServerSlot slot) {
    if (CellTable* const found = tables[slot].load(std::memory_order_acquire)) return *found;
    const std::lock_guard lock(making);
    if (CellTable* const found = tables[slot].load(std::memory_order_acquire)) return *found;
    made.push_back(std::make_unique<CellTable>(empty, empty.kind == Metric::Kind::kHistogram ? &bounds : nullptr));
    tables[slot].store(made.back().get(), std::memory_order_release);
    return *made.back();
  }
  CellTable& here() { return table(t_server_slot); }
  CellTable* find(ServerSlot slot) const noexcept { return tables[slot].load(std::memory_order_acquire); }
  // The next server of the slot begins with a new table. The former one stays, because cells of it may be in use.
  void release(ServerSlot slot) noexcept { tables[slot].store(nullptr, std::memory_order_release); }
  // Calls `visit` for each table that the thread's server exposes: those of the process and of the server; without a server, all.
  template <class Visit>
  void each_exposed(const Visit& visit) const {
    for (ServerSlot slot = 0; slot < kSlots; ++slot) {
      CellTable* const found = t_server_slot == 0 || slot == 0 || slot == t_server_slot ? find(slot) : nullptr;
      if (found != nullptr) visit(*found);
    }
  }

  const Metric::Snapshot empty;
  HistogramBounds bounds{empty.bounds};
  std::array<std::atomic<CellTable*>, kSlots> tables{};
  std::mutex making;
  std::vector<std::unique_ptr<CellTable>> made;
};

// All metrics with their tables.
struct KnownTables {
  std::mutex mutex;
  std::map<const Metric*, SlotTables*> of;
};
inline KnownTables& known_tables() {
  static auto* const all = new KnownTables;
  return *all;
}
inline SlotTables* tables_of(const Metric& metric) {
  KnownTables& all = known_tables();
  const std::lock_guard lock(all.mutex);
  const auto found = all.of.find(&metric);
  return found == all.of.end() ? nullptr : found->second;
}

}  // namespace backplane::metric_tables
