// Counters of service account tokens (kubernetes/pkg/serviceaccount/metrics.go). Exposed from the start of the server on.
//
// Thread-safety: any thread.
#pragma once

#include "backplane/core/metric_cell.hpp"

namespace backplane::authentication {

struct AccountMetrics {
  MetricCell& legacy;              // tokens without audiences
  MetricCell& stale;               // after warnafter
  MetricCell& valid;               // before warnafter
  MetricCell& legacy_manual;       // of a secret that the account does not list
  MetricCell& legacy_auto;         // of a secret that the account lists
  MetricCell& invalidated_legacy;  // of a secret with the label kubernetes.io/legacy-token-invalid-since
};
AccountMetrics& account_metrics();

}  // namespace backplane::authentication
