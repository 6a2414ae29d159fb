// Audit events as one line of text: upstream's legacy format, also of log lines about lost events.
//
// Thread-safety: pure functions.
// Source:        k8s.io/apiserver/pkg/audit/format.go.
#pragma once

#include <string>

#include "backplane/core/visibility.hpp"
#include "backplane/points/audit.hpp"

namespace backplane BACKPLANE_API {
namespace kit BACKPLANE_API {

// Without a newline.
void append_audit_event_text(std::string& out, const AuditEvent& event);

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
