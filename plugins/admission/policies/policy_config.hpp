// The configuration of the two plugins: ValidatingAdmissionPolicyConfiguration and MutatingAdmissionPolicyConfiguration of
// apiserver.config.k8s.io/v1.
//
// Thread-safety: a pure function.
// Errors:        kBadRequest: another kind; a directory of manifests, which is not supported (ManifestBasedAdmissionControlConfig).
#pragma once

#include <string_view>

#include "backplane/points/admission.hpp"

namespace backplane::admission::policies {

// `kind`: the kind that the plugin's configuration has.
Status check_policy_config(const AdmissionPluginConfig& config, std::string_view kind);

}  // namespace backplane::admission::policies
