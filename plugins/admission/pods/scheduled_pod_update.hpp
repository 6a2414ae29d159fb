// Helpers for the validators of running pods: the updates that they decide about, and the pod's node.
//
// Thread-safety: pure functions.
#pragma once

#include "common/services.hpp"

namespace backplane::admission::pods {

// Whether the write changes the spec of a pod that has a node, that is, whether it changes the generation. `only_resize`: only writes of
// the subresource resize count; otherwise writes of the pod itself count, too.
bool is_scheduled_pod_change(const AdmissionAttributes& attributes, bool only_resize);

// The node of the pod. Errors: 403 `node "n" not found`.
Result<Object> node_of_pod(const AdmissionAttributes& attributes, const Lister& nodes);

}  // namespace backplane::admission::pods
