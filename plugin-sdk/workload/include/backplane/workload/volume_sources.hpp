// Rules for the sources of volumes, of pods and of persistent volumes, that schema keywords cannot express (pkg/apis/core/validation).
//
// Thread-safety: pure functions on trees of the caller's.
// Errors:        added to FieldErrors with upstream's messages.
#pragma once

#include <string_view>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "backplane/kit/path.hpp"

namespace backplane::workload {

// The first source of a volume, which is looked into alone; `holder`: what it is a member of.  `volume_name`: that of a persistent volume;
// empty: the volume is a pod's.
void validate_volume_source(const Object& holder, const kit::Path& path, std::string_view volume_name, FieldErrors& errors);

// The name of a pod's iSCSI volume that names its initiator, together with its portal.
void validate_portal_length(std::string_view volume_name, std::string_view portal, const kit::Path& path, FieldErrors& errors);

}  // namespace backplane::workload
