// Loads the objects of a directory of manifests for one admission plugin. The objects are decoded strictly, get the defaults of the API,
// and must be valid by the rules of the API and by those of manifests.
//
// Thread-safety: any thread; it reads files and blocks.
// Errors:        kBadRequest with the texts of upstream's loaders.
// Source:        k8s.io/apiserver/pkg/admission/plugin/{policy,webhook}/manifest/loader, k8s.io/kubernetes/pkg/admission/plugin/….
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"

namespace backplane::admission::manifests {

// The suffix of the names of objects in manifests; other objects must not have it.
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

// The objects, sorted by name.
struct ManifestObjects {
  std::vector<Object> main, bindings;
  std::string hash;  // the hash of the files
};
Result<ManifestObjects> load_manifests(const std::string& directory, const ManifestKinds& kinds);

}  // namespace backplane::admission::manifests
