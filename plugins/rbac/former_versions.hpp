// Roles and bindings of rbac.authorization.k8s.io/v1alpha1 and v1beta1.
//
// Thread-safety: pure functions.
#pragma once

#include "backplane/rest/scheme.hpp"

namespace backplane::rbac {

// Adds the types and conversions; called after the group is installed.
Status add_former_versions(Scheme& scheme);

}  // namespace backplane::rbac
