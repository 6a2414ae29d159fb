// The volume kube-api-access-xxxxx with the token of a pod's service account, the cluster's CA and the namespace.
//
// Thread-safety: pure function on a tree of the caller.
// Source:        kubernetes plugin/pkg/admission/serviceaccount (mountServiceAccountToken, TokenVolumeSource).
#pragma once

#include "backplane/core/json.hpp"

namespace backplane::admission::accounts {

// Mounts the volume in all containers and init containers of the pod that mount nothing at the volume's path. Adds the volume to the pod if
// a container needs it and the pod does not have it.
void mount_token_volume(Object& pod_spec);

}  // namespace backplane::admission::accounts
