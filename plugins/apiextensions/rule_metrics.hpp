// The durations of rules: apiserver_cel_compilation_duration_seconds and apiserver_cel_evaluation_duration_seconds, as upstream measures
// them, once for each part of a schema that has rules in it or below it.
//
//   const RuleTimer timer(rule_evaluations());
//
// Thread-safety: any thread.
// Source:        k8s.io/apiserver/pkg/cel/metrics.
#pragma once

#include <chrono>

#include "backplane/core/metrics.hpp"

namespace backplane::apiextensions {

Metric& rule_compilations();
Metric& rule_evaluations();
// Exposes both metrics before the first rule runs.
void show_rule_metrics();

// Observes the time until its destruction.
class RuleTimer {
 public:
  explicit RuleTimer(Metric& metric) : metric_(metric) {}
  ~RuleTimer() { metric_.observe({}, std::chrono::duration<double>(Clock::now() - began_).count()); }
  RuleTimer(const RuleTimer&) = delete;
  RuleTimer& operator=(const RuleTimer&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  Metric& metric_;
  const Clock::time_point began_ = Clock::now();
};

}  // namespace backplane::apiextensions
