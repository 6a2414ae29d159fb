// Controllers that protect volumes and claims from deletion while they are in use.
//
// Thread-safety: the plugin's executor.
// Lifetime:      until the term ends.
// Errors:        none.
#pragma once

#include "frame/context.hpp"

namespace backplane::controllers {

// The finalizer kubernetes.io/pvc-protection. Source: k8s.io/kubernetes/pkg/controller/volume/pvcprotection.
Status start_claim_protection(const Context& context);
// The finalizer kubernetes.io/pv-protection. Source: k8s.io/kubernetes/pkg/controller/volume/pvprotection.
Status start_volume_protection(const Context& context);

}  // namespace backplane::controllers
