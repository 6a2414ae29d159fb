// Sysctls of namespaces that a pod shares with its host.
//
// Thread-safety: pure.
// Errors:        added to FieldErrors with upstream's messages.
#pragma once

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "backplane/kit/path.hpp"

namespace backplane::workload {

// Checks new pods and templates; existing pods may keep such settings. `path`: of the spec.
void validate_host_sysctls(const Object& pod_spec, const kit::Path& path, FieldErrors& errors);

}  // namespace backplane::workload
