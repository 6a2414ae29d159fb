// Definitions as kube-apiserver writes them: apiextensions.k8s.io/v1beta1, which is served no longer.
//
// Thread-safety: pure functions.
// Errors:        add_definition_conversions: the Scheme's.
#pragma once

#include "backplane/rest/scheme.hpp"
#include "definition.hpp"

namespace backplane::apiextensions {

inline GroupVersionKind written_definition() { return {std::string(kGroup), "v1beta1", "CustomResourceDefinition"}; }

// Between v1 and v1beta1, both ways.
Status add_definition_conversions(Scheme& scheme);

}  // namespace backplane::apiextensions
