// Checks sysctls of namespaces that a pod shares with its host.
//
// Thread-safety: pure.
// Errors:        added to FieldErrors with upstream's messages.
#pragma once

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "backplane/kit/path.hpp"

namespace backplane::workload {

// For new pods and templates only: existing pods may keep such sysctls. `path`: the path of the pod spec.
void validate_host_sysctls(const Object& pod_spec, const kit::Path& path, FieldErrors& errors);

}  // namespace backplane::workload
