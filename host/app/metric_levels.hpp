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

// The help text with its family's level in front, unless it has one; families of the process and of gRPC have none, as upstream.
std::string marked_help(std::string_view name, std::string_view help);
void mark_levels(std::vector<prometheus::MetricFamily>& families);

// The numbers of families by level.
class LevelCounts {
 public:
  LevelCounts() = default;
  LevelCounts(const LevelCounts&) = delete;
  LevelCounts& operator=(const LevelCounts&) = delete;
  // The version since which the family is deprecated, and its level; nullopt: it is not counted.
  using Level = std::optional<std::pair<std::string, std::string>>;
  static Level level_of(std::string_view name, std::string_view help);

  void add(const Level& level) {
    if (!level) return;
    if (last_ == nullptr || last_->first != *level) last_ = &*counts_.try_emplace(*level, 0).first;
    ++last_->second;
  }
  // registered_metrics_total, disabled_metrics_total and hidden_metrics_total: of the families that were added, of those that a flag has
  // disabled, and of hidden ones.
  std::vector<prometheus::MetricFamily> families(std::size_t disabled, std::size_t hidden) const;

 private:
  using Counts = std::map<std::pair<std::string, std::string>, std::size_t>;
  Counts counts_;
  Counts::value_type* last_ = nullptr;  // that of the last add(): most families have the same level
};
// Adds those families to `families`, which they count.
void count_levels(std::vector<prometheus::MetricFamily>& families, std::size_t disabled, std::size_t hidden);

}  // namespace backplane
