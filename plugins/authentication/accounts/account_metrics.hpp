// Counters of service account tokens (kubernetes/pkg/serviceaccount/metrics.go). Exposed from startup on.
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
  MetricCell* stale;               // after warnafter
  MetricCell* valid;               // before warnafter
  MetricCell* legacy_manual;       // of a secret that the account does not list
  MetricCell* legacy_auto;         // of a secret that the account lists
  MetricCell* invalidated_legacy;  // of a secret with the label kubernetes.io/legacy-token-invalid-since
};
using AccountMetricsRef = std::shared_ptr<const AccountMetrics>;

}  // namespace backplane::authentication
