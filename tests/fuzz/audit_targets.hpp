// Targets of audit: policies, and the objects in audit events.
//
// Thread-safety: one thread.
#pragma once

#include <string_view>

namespace backplane::fuzz {

void audit_policy(std::string_view bytes);

}  // namespace backplane::fuzz
