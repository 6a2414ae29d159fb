// Objects of apps/v1beta1, apps/v1beta2 and extensions/v1beta1, which the stores of clusters before Kubernetes 1.16 may contain.
//
// Thread-safety: pure functions.
#pragma once

#include "backplane/rest/scheme.hpp"

namespace backplane::apps {

// Adds types and conversions. Call it after the group is installed.
Status add_former_versions(Scheme& scheme);

}  // namespace backplane::apps
