// Upstream's apiserver_audit_* metrics, except error_total, which the sinks count.
//
// Thread-safety: any thread; the counts are atomic.
#pragma once

#include <array>
#include <atomic>

#include "backplane/core/metric_cell.hpp"
#include "backplane/points/audit.hpp"

namespace backplane {

// The constructor must run on a thread of the server whose metrics are counted.
class AuditMetrics {
 public:
  AuditMetrics();
  // Counts one stage of a request, however many sinks receive the event.
  void event() noexcept;
  // Counts the highest level that the policies have decided for a request.
  void level(AuditLevel level) noexcept;
  // Counts a request that got 500 because a sink has lost its first event.
  void rejected() noexcept;

 private:
  MetricCell* const events_;
  MetricCell* const rejected_;
  std::array<std::atomic<MetricCell*>, 4> levels_{};
  Metric& level_;
};

}  // namespace backplane
