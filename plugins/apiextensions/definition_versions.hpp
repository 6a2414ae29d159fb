// Definitions in apiextensions.k8s.io/v1beta1, in which kube-apiserver stores them, but which is not served any more.
//
// Thread-safety: pure functions.
// Errors:        add_definition_conversions: the Scheme's.
#pragma once

#include "backplane/rest/scheme.hpp"
#include "definition.hpp"

namespace backplane::apiextensions {

inline GroupVersionKind written_definition() { return {std::string(kGroup), "v1beta1", "CustomResourceDefinition"}; }

// Conversions between v1 and v1beta1, in both directions.
Status add_definition_conversions(Scheme& scheme);

}  // namespace backplane::apiextensions
