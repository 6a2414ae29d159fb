// The objects that a directory of manifests configures an admission plugin with: decoded strictly, completed with the defaults of the API,
// and valid by its rules and by those of manifests.
//
// Thread-safety: a pure function; it blocks.
// Errors:        kBadRequest with the texts of upstream's loaders.
// Source:        k8s.io/apiserver/pkg/admission/plugin/{policy,webhook}/manifest/loader, k8s.io/kubernetes/pkg/admission/plugin/….
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"

namespace backplane::admission::manifests {

// Names of objects in manifests end with it, others must not.
inline constexpr std::string_view kStaticSuffix = ".static.k8s.io";

// Kinds of admissionregistration.k8s.io/v1.
struct ManifestKinds {
  std::string_view main;     // policies or configurations of webhooks
  std::string_view binding;  // empty: there are none
};
inline constexpr ManifestKinds kValidatingPolicies{"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"};
inline constexpr ManifestKinds kMutatingPolicies{"MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"};
inline constexpr ManifestKinds kValidatingWebhooks{"ValidatingWebhookConfiguration", {}};
inline constexpr ManifestKinds kMutatingWebhooks{"MutatingWebhookConfiguration", {}};

// Sorted by name.
struct ManifestObjects {
  std::vector<Object> main, bindings;
  std::string hash;  // of the files
};
Result<ManifestObjects> load_manifests(const std::string& directory, const ManifestKinds& kinds);

}  // namespace backplane::admission::manifests
