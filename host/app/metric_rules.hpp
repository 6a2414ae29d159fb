// --disabled-metrics, --allow-metric-labels and its manifest, --show-hidden-metrics-for-version: which metrics and label values are shown.
//
// Thread-safety: immutable after construction.
// Errors:        a manifest that cannot be read, or a key that is not METRIC,LABEL.
#pragma once

#include <prometheus/metric_family.h>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/options.hpp"

namespace backplane {

class MetricRules {
 public:
  // Rules that change nothing.
  MetricRules() = default;
  // If --allow-metric-labels is set, the manifest is ignored, as upstream.
  static Result<MetricRules> make(const MetricOptions& options);

  // Adds the hidden families if they are to be shown, and removes disabled families. If the values of a label are restricted, other values
  // become "unexpected". Samples whose labels are then equal are merged: counters are added up, the last gauge wins.
  void apply(std::vector<prometheus::MetricFamily>& families) const;
  // True if apply() only removes families, namely those for which takes_out() is true.
  bool only_removes() const noexcept { return !shows_hidden_ && allowed_.empty(); }
  bool takes_out(std::string_view name) const;

 private:
  Status allow(const std::string& key, const std::string& values);
  bool shows_hidden_ = false;

  std::set<std::string, std::less<>> disabled_;
  std::map<std::string, std::map<std::string, std::set<std::string>>, std::less<>> allowed_;  // metric → label → values
};

}  // namespace backplane
