// Counters of authentications by service account tokens (kubernetes/pkg/serviceaccount/metrics.go). /metrics contains them from startup on.
//
// Thread-safety: any thread.
// Lifetime:      made by the plugin while it provisions; shared by its validators.
#pragma once

#include <memory>

#include "backplane/core/metric_cell.hpp"

namespace backplane::authentication {

struct AccountMetrics {
  AccountMetrics();
  MetricCell* legacy;              // tokens without audiences
  MetricCell* stale;               // tokens that were used after their time `warnafter`
  MetricCell* valid;               // tokens that were used before their time `warnafter`
  MetricCell* legacy_manual;       // tokens of a secret that the service account does not list
  MetricCell* legacy_auto;         // tokens of a secret that the service account lists
  MetricCell* invalidated_legacy;  // tokens of a secret with the label kubernetes.io/legacy-token-invalid-since
};
using AccountMetricsRef = std::shared_ptr<const AccountMetrics>;

}  // namespace backplane::authentication
