// Rules for the sources of volumes (of pods and of persistent volumes) that schema keywords cannot express (pkg/apis/core/validation).
//
// Thread-safety: pure functions on trees that the caller owns.
// Errors:        added to FieldErrors with upstream's messages.
#pragma once

#include <string_view>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "backplane/kit/path.hpp"

namespace backplane::workload {

// Checks only the first source of a volume. `holder`: the object that contains the source as a member. `volume_name`: the name of a
// persistent volume; empty for a volume of a pod.
void validate_volume_source(const Object& holder, const kit::Path& path, std::string_view volume_name, FieldErrors& errors);

// Checks the name of a pod's iSCSI volume that sets an initiator name, because both names include the portal.
void validate_portal_length(std::string_view volume_name, std::string_view portal, const kit::Path& path, FieldErrors& errors);

}  // namespace backplane::workload
