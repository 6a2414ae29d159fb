// Events as one line of text: upstream's legacy format, also of log lines about lost events.
//
// Thread-safety: pure functions.
// Source:        k8s.io/apiserver/pkg/audit/format.go.
#pragma once

#include <string>

#include "backplane/points/audit.hpp"

namespace backplane::audit {

// Without a newline.
void append_event_text(std::string& out, const AuditEvent& event);

}  // namespace backplane::audit
