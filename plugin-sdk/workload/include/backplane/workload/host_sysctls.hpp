// Kernel settings of namespaces that a pod shares with its host.
//
// Thread-safety: pure.
// Errors:        added to FieldErrors with upstream's messages.
#pragma once

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "backplane/kit/path.hpp"

namespace backplane::workload {

// Of new pods and of templates: pods that have such settings already keep them.  `path`: of the spec.
void validate_host_sysctls(const Object& pod_spec, const kit::Path& path, FieldErrors& errors);

}  // namespace backplane::workload
