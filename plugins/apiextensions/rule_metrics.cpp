#include "rule_metrics.hpp"

#include "backplane/core/metric_cell.hpp"

namespace backplane::apiextensions {
namespace {

// The bounds of prometheus.DefBuckets.
const std::vector<double>& default_bounds() {
  static const std::vector<double> bounds{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};
  return bounds;
}

}  // namespace

Metric& rule_compilations() {
  static Metric& out =
      Metric::histogram("apiserver_cel_compilation_duration_seconds", "[BETA] CEL compilation time in seconds.", {}, default_bounds());
  return out;
}

Metric& rule_evaluations() {
  static Metric& out =
      Metric::histogram("apiserver_cel_evaluation_duration_seconds", "[BETA] CEL evaluation time in seconds.", {}, default_bounds());
  return out;
}

void show_rule_metrics() {
  for (Metric* metric : {&rule_compilations(), &rule_evaluations()}) MetricCell::of(*metric, {});
}

}  // namespace backplane::apiextensions
