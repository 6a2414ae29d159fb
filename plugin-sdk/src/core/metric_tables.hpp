// The values of all metrics. Each metric has one table of series for each server.
//
// Thread-safety: any thread. Counting acquires a shared lock of a table; creating and forgetting series acquires an exclusive lock.
// Lifetime:      a table lives as long as its metric, and a cell until forget() removes its series, or as long as the result of take().
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
#include <utility>
#include <vector>

#include "backplane/core/metric_cell.hpp"
#include "backplane/core/metrics.hpp"
#include "core/thread_slot.hpp"

namespace backplane BACKPLANE_API {

struct HistogramBounds {
  const std::vector<double>& values;
  // The number of observations that did not increase the sum of their cell, such as 0. A reader detects all other observations by a change
  // of the sum.
  std::atomic<std::uint64_t> unsummed{0};
};

}  // namespace BACKPLANE_API

namespace backplane::metric_tables {

using Values = std::initializer_list<std::string_view>;

// The label values of a series in one text. Each is followed by a zero byte; empty values at the end are omitted.  One text needs little
// memory: there may be ten series for each resource.
using Key = std::string;

// Returns the number of values without empty values at the end.
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

// One series. Its id is unique in the process, so that a MetricView recognizes the series after other series have been created or
// forgotten.
struct StoredSeries {
  explicit StoredSeries(HistogramBounds* bounds) : cell(bounds) {}
  static std::uint64_t next_id() noexcept {
    static std::atomic<std::uint64_t> last{0};
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
  }

  MetricCell cell;
  const std::uint64_t id = next_id();
};

// The series of one metric in one server slot.
struct CellTable {
  CellTable(const Metric::Snapshot& of, HistogramBounds* of_bounds) : empty(of), bounds(of_bounds) {}

  // Calls `change` with the cell of the series `values`, which it creates if it is absent. Does nothing if the table is full.
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
  using Cells = std::unordered_map<Key, StoredSeries, KeyHash, KeyEqual>;
  // Removes all series. Threads may still count in the cells that it returns.
  Cells take() {
    const std::unique_lock lock(mutex);
    ++version;
    resets = 0;
    return std::exchange(cells, {});
  }
  void reset() {
    const std::unique_lock lock(mutex);
    ++resets;
    ++version;
    for (auto& [_, series] : cells) series.cell.reset();
  }
  // Adds the series to `out`. If `out` already has the series, the values are added; a gauge replaces the value.
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
  mutable std::shared_mutex mutex;  // counting acquires a shared lock
  Cells cells;
  std::uint64_t resets = 0;   // if it is not 0, series without counts since the reset are not exposed
  std::uint64_t version = 0;  // changes when a series is created or forgotten, and when the table is reset
};

inline constexpr std::size_t kSlots = kMostServers + 1;

// The tables of one metric for all slots.
struct SlotTables {
  explicit SlotTables(Metric::Snapshot what) : empty(std::move(what)) {}

  // Returns the table of `slot`. The first call creates it.
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
  // Makes the next server with the slot begin with a new table. The former table is not destroyed, because cells of it may be in use.
  void release(ServerSlot slot) noexcept { tables[slot].store(nullptr, std::memory_order_release); }
  template <class Visit>
  void each(const Visit& visit) const {
    for (ServerSlot slot = 0; slot < kSlots; ++slot) {
      if (CellTable* const found = find(slot)) visit(*found);
    }
  }
  // Calls `visit` for each table that the thread's server exposes: those of the process and of the server. On a thread without a server:
  // all tables.
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
