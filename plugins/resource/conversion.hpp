// Versions of resource.k8s.io: v1 is stored; v1beta2 has the same structure, v1beta1 differs in requests and devices.
//
// Thread-safety: pure functions.
// Errors:        none.
#pragma once

#include "backplane/rest/scheme.hpp"

namespace backplane::resource {

Status add_conversions(Scheme& scheme);

}  // namespace backplane::resource
