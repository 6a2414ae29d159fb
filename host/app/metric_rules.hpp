// --disabled-metrics, --allow-metric-labels and its manifest, --show-hidden-metrics-for-version: what of the metrics is shown.
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
  // The flag wins over the manifest, as upstream.
  static Result<MetricRules> make(const MetricOptions& options);

  // Adds the hidden families if they are to be shown, and removes disabled ones. A label with a list of values keeps the listed values;
  // other values become "unexpected". Samples that have equal labels after that are merged: counters are added up, the last gauge wins.
  void apply(std::vector<prometheus::MetricFamily>& families) const;
  // True if apply() only removes families, namely those for which takes_out() is true.
  bool only_takes_out() const noexcept { return !shows_hidden_ && allowed_.empty(); }
  bool takes_out(std::string_view name) const;

 private:
  Status allow(const std::string& key, const std::string& values);
  bool shows_hidden_ = false;

  std::set<std::string, std::less<>> disabled_;
  std::map<std::string, std::map<std::string, std::set<std::string>>, std::less<>> allowed_;  // metric → label → values
};

}  // namespace backplane
