#include "filters/audit_metrics.hpp"

namespace backplane {

AuditMetrics::AuditMetrics()
    : events_(MetricCell::of(
          Metric::counter("apiserver_audit_event_total", "Counter of audit events generated and sent to the audit backend.", {}), {})),
      rejected_(MetricCell::of(Metric::counter("apiserver_audit_requests_rejected_total",
                                               "Counter of apiserver requests rejected due to an error in audit logging backend.", {}),
                               {})),
      level_(Metric::counter("apiserver_audit_level_total", "Counter of policy levels for audit events (1 per request).", {"level"})) {}

void AuditMetrics::event() noexcept { events_->add(); }
void AuditMetrics::rejected() noexcept { rejected_->add(); }

// As upstream, a level has no series before its first request.
void AuditMetrics::level(AuditLevel level) noexcept {
  auto& slot = levels_[static_cast<std::size_t>(level)];
  MetricCell* cell = slot.load(std::memory_order_acquire);
  if (cell == nullptr) {
    cell = MetricCell::of(level_, {audit_level_name(level)});
    slot.store(cell, std::memory_order_release);
  }
  cell->add();
}

}  // namespace backplane
