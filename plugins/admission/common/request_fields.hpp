// The AdmissionRequest of a write without its objects: the fields that webhooks receive, and the variable `request` of CEL expressions.
//
// Thread-safety: a pure function.
// Source:        CreateAdmissionRequest of k8s.io/apiserver/pkg/admission/plugin/{webhook/request,cel}, k8s.io/api/admission/v1.
#pragma once

#include "backplane/points/admission.hpp"

namespace backplane::admission {

// Returns the members in the order of the Go struct, beginning with an empty uid. `resource`, `kind`: an equivalent resource if the
// matching rule names one; otherwise those of the attributes.
Object request_fields(const AdmissionAttributes& attributes, const GroupVersionResource& resource, const GroupVersionKind& kind,
                      const json::storage_ptr& storage);

}  // namespace backplane::admission
