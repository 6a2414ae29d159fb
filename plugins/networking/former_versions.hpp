// Ingresses of networking.k8s.io/v1beta1 and extensions/v1beta1, and other objects of those versions.
//
// Thread-safety: pure functions.
#pragma once

#include "backplane/rest/scheme.hpp"

namespace backplane::networking {

// Adds the types and conversions; called after the group is installed.
Status add_former_versions(Scheme& scheme);

}  // namespace backplane::networking
