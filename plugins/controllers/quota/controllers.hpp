// The controller of resource quotas.
//
// Thread-safety: the plugin's executor.
// Lifetime:      a controller runs until the term ends (frame/term.hpp).
// Errors:        none.
#pragma once

#include "frame/context.hpp"

namespace backplane::controllers {

// Keeps status.hard and status.used of ResourceQuotas up to date. Source: k8s.io/kubernetes/pkg/controller/resourcequota.
Status start_resource_quota(const Context& context);

}  // namespace backplane::controllers
