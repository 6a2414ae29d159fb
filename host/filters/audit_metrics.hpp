// The counts of audit events that /metrics shows: upstream's apiserver_audit_*, except error_total, which the sinks count.
//
// Thread-safety: any thread; atomic counts.
#pragma once

#include <array>
#include <atomic>

#include "backplane/core/metric_cell.hpp"
#include "backplane/points/audit.hpp"

namespace backplane {

// Refers to the counts of the server on whose thread it is constructed.
class AuditMetrics {
 public:
  AuditMetrics();
  // One stage of a request, whatever the number of its sinks.
  void event() noexcept;
  // The level that the policies decided for a request.
  void level(AuditLevel level) noexcept;
  // A request that got 500 because a sink lost its first event.
  void rejected() noexcept;

 private:
  MetricCell* const events_;
  MetricCell* const rejected_;
  std::array<std::atomic<MetricCell*>, 4> levels_{};
  Metric& level_;
};

}  // namespace backplane
