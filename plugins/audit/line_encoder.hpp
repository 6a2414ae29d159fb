// Encodes events as lines of the audit log.
//
// Thread-safety: one thread at a time.
// Lifetime:      the settings outlive it.
// Errors:        none.
// Source:        k8s.io/apiserver/plugin/pkg/audit/{log,truncate}.
#pragma once

#include <string>

#include "backplane/kit/audit_event_json.hpp"
#include "settings.hpp"

namespace backplane::audit {

class LineEncoder {
 public:
  explicit LineEncoder(const LogSettings& settings) : settings_(settings) {}
  // Appends the event and a newline. Returns false and appends nothing if the event is larger than --audit-log-truncate-max-event-size even
  // without its objects.
  bool append(std::string& out, const AuditEvent& event);

 private:
  const LogSettings& settings_;
  kit::AuditEventEncoder encoder_;
};

}  // namespace backplane::audit
