// Versions of resource.k8s.io: v1 is stored; v1beta2 has its form, v1beta1 another for requests and devices.
//
// Thread-safety: pure functions.
// Errors:        none of their own.
#pragma once

#include "backplane/rest/scheme.hpp"

namespace backplane::resource {

Status add_conversions(Scheme& scheme);

}  // namespace backplane::resource
