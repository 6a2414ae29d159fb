// Reads the configuration of the two plugins: ValidatingAdmissionPolicyConfiguration and MutatingAdmissionPolicyConfiguration of
// apiserver.config.k8s.io/v1.
//
// Thread-safety: a pure function.
// Errors:        kBadRequest: another kind; a directory of manifests that cannot be used.
// Source:        k8s.io/apiserver/pkg/admission/plugin/policy/config.
#pragma once

#include <string>

#include "backplane/points/admission.hpp"

namespace backplane::admission::policies {

// Returns the directory of manifests (staticManifestsDir); empty: none. `kind`: the kind that the configuration must have. `manifests`: the
// gate ManifestBasedAdmissionControlConfig.
Result<std::string> read_policy_config(const AdmissionPluginConfig& config, const std::string& kind, bool manifests);

}  // namespace backplane::admission::policies
