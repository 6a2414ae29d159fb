// Prints audit events as one line of text: upstream's legacy format, which log lines about lost events also use.
//
// Thread-safety: pure functions.
// Source:        k8s.io/apiserver/pkg/audit/format.go.
#pragma once

#include <string>

#include "backplane/core/visibility.hpp"
#include "backplane/points/audit.hpp"

namespace backplane BACKPLANE_API {
namespace kit BACKPLANE_API {

// Appends the event without a newline.
void append_audit_event_text(std::string& out, const AuditEvent& event);

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
