// The controller of aggregated cluster roles.
//
// Thread-safety: the plugin's executor.
// Lifetime:      a controller runs until the term ends (frame/term.hpp).
// Errors:        none.
#pragma once

#include "frame/context.hpp"

namespace backplane::controllers {

// Sets the rules of ClusterRoles with an aggregationRule. Source: k8s.io/kubernetes/pkg/controller/clusterroleaggregation.
Status start_cluster_role_aggregation(const Context& context);

}  // namespace backplane::controllers
