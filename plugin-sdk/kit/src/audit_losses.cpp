#include "backplane/kit/audit_losses.hpp"

#include <string>

#include "backplane/core/metrics.hpp"
#include "backplane/kit/audit_event_text.hpp"

namespace backplane::kit {

void AuditLosses::add(std::size_t events, std::string_view why, const AuditEvent* first) noexcept {
  std::string text;
  try {
    if (first != nullptr) append_audit_event_text(text, *first);
  } catch (const std::exception&) {
    // Out of memory: the line is logged without the event.
  }
  add(events, why, std::string_view(text));
}

void AuditLosses::add(std::size_t events, std::string_view why, std::string_view first) noexcept {
  static Metric& errors = Metric::counter(
      "apiserver_audit_error_total",
      "Counter of audit events that failed to be audited properly. Plugin identifies the plugin affected by the error.", {"plugin"});
  try {
    errors.add({part_}, static_cast<double>(events));
    const auto suppressed = limit_.admit();
    if (!suppressed) return;
    std::string line = "Error in audit plugin '" + part_ + "' affecting " + std::to_string(events) + " audit events: ";
    line.append(why);
    if (*suppressed > 0) line += " suppressed=" + std::to_string(*suppressed);
    if (!first.empty()) line.append("; the first: ").append(first);
    logger_.error(line);
  } catch (const std::exception&) {
    // Out of memory: the count or the line is lost.
  }
}

}  // namespace backplane::kit
