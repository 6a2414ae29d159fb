// Counts and logs the events that an audit sink has lost (apiserver_audit_error_total).
//
// Thread-safety: any thread.
// Lifetime:      the logger must outlive the object.
// Errors:        none.
#pragma once

#include <string>
#include <string_view>

#include "backplane/core/log_limit.hpp"
#include "backplane/core/logger.hpp"
#include "backplane/core/visibility.hpp"
#include "backplane/points/audit.hpp"

namespace backplane BACKPLANE_API {
namespace kit BACKPLANE_API {

class AuditLosses {
 public:
  // `part`: the value of the metric's label "plugin": log, webhook, buffered or truncate.
  AuditLosses(std::string_view part, Logger& logger) : part_(part), logger_(logger) {}
  // Counts `events` lost events. `first`: one of them, for the log line; null: not available. At most one line per second is logged.
  void add(std::size_t events, std::string_view why, const AuditEvent* first) noexcept;
  // Like add() above. `first`: the event as text, without request and response objects; empty: not available.
  void add(std::size_t events, std::string_view why, std::string_view first) noexcept;

 private:
  const std::string part_;
  Logger& logger_;
  LogLimit limit_{std::chrono::seconds(1)};
};

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
