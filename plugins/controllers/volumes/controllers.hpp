// Controllers that protect volumes and claims from deletion while they are in use.
//
// Thread-safety: the plugin's executor.
// Lifetime:      a controller runs until the term ends (frame/term.hpp).
// Errors:        none.
#pragma once

#include "frame/context.hpp"

namespace backplane::controllers {

// Adds and removes the finalizer kubernetes.io/pvc-protection of claims. Source: k8s.io/kubernetes/pkg/controller/volume/pvcprotection.
Status start_claim_protection(const Context& context);
// Adds and removes the finalizer kubernetes.io/pv-protection of volumes. Source: k8s.io/kubernetes/pkg/controller/volume/pvprotection.
Status start_volume_protection(const Context& context);

}  // namespace backplane::controllers
