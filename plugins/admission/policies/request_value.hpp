// The variable `request` of expressions: an AdmissionRequest without its objects.
//
// Thread-safety: a pure function.
// Source:        CreateAdmissionRequest of k8s.io/apiserver/pkg/admission/plugin/cel.
#pragma once

#include "backplane/points/admission.hpp"

namespace backplane::admission::policies {

// `resource`, `kind`: what the matching rule names; equal to those of the attributes unless it names an equivalent resource.
Value admission_request_value(const AdmissionAttributes& attributes, const GroupVersionResource& resource, const GroupVersionKind& kind);

}  // namespace backplane::admission::policies
