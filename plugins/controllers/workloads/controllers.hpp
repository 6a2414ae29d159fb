// Controllers of jobs and pods.
//
// Thread-safety: the plugin's executor.
// Lifetime:      a controller runs until the term ends (frame/term.hpp).
// Errors:        none.
#pragma once

#include "frame/context.hpp"

namespace backplane::controllers {

// Deletes finished Jobs spec.ttlSecondsAfterFinished after their end. Source: k8s.io/kubernetes/pkg/controller/ttlafterfinished.
Status start_ttl_after_finished(const Context& context);
// Deletes pods of nodes that do not exist, terminating pods without a node or on an out-of-service node, and the oldest terminated pods
// above --terminated-pod-gc-threshold. Source: k8s.io/kubernetes/pkg/controller/podgc.
Status start_pod_collector(const Context& context);

}  // namespace backplane::controllers
