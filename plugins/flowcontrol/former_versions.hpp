// Flow schemas and priority levels of flowcontrol.apiserver.k8s.io/v1beta1 to v1beta3.
//
// Thread-safety: pure functions.
#pragma once

#include "backplane/rest/scheme.hpp"

namespace backplane::flowcontrol {

// Adds types and conversions. Call it after the group is installed.
Status add_former_versions(Scheme& scheme);

}  // namespace backplane::flowcontrol
