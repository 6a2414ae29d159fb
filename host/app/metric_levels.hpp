// Stability levels of metric families, as "[STABLE] …" in their help, and the counts of families by level.
//
// Thread-safety: pure functions.
#pragma once

#include <prometheus/metric_family.h>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace backplane {

// Returns `help` with the level of the family `name` in front, unless `help` begins with a level already. Families of the process, of gRPC
// and of Go have no level, as upstream.
std::string marked_help(std::string_view name, std::string_view help);
void mark_levels(std::vector<prometheus::MetricFamily>& families);

// The numbers of families by level.
class LevelCounts {
 public:
  LevelCounts() = default;
  LevelCounts(const LevelCounts&) = delete;
  LevelCounts& operator=(const LevelCounts&) = delete;
  // The version since which the family is deprecated ("" if it is not), and its level. nullopt if the family is not counted.
  using Level = std::optional<std::pair<std::string, std::string>>;
  static Level level_of(std::string_view name, std::string_view help);

  void add(const Level& level) {
    if (!level) return;
    if (last_ == nullptr || last_->first != *level) last_ = &*counts_.try_emplace(*level, 0).first;
    ++last_->second;
  }
  // The families registered_metrics_total, which counts the families that were added, disabled_metrics_total with the value `disabled`, and
  // hidden_metrics_total with the value `hidden`.
  std::vector<prometheus::MetricFamily> families(std::size_t disabled, std::size_t hidden) const;

 private:
  using Counts = std::map<std::pair<std::string, std::string>, std::size_t>;
  Counts counts_;
  Counts::value_type* last_ = nullptr;  // the entry of the last add(): most families have the same level
};
// Counts `families`, and adds the result of LevelCounts::families() to `families`.
void count_levels(std::vector<prometheus::MetricFamily>& families, std::size_t disabled, std::size_t hidden);

}  // namespace backplane
