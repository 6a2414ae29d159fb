// Secrets and config maps that a pod refers to, directly or through its volumes.
//
// Thread-safety: pure functions.
// Source:        kubernetes pkg/api/pod (VisitPodSecretNames, VisitPodConfigmapNames).
#pragma once

#include "backplane/core/json.hpp"

namespace backplane::admission::accounts {

bool references_secrets(const Object& pod_spec);
bool references_config_maps(const Object& pod_spec);

}  // namespace backplane::admission::accounts
