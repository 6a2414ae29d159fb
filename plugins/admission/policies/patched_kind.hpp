// The kind of an object after a JSON patch. A kind that the patch has removed is set again.
//
// Thread-safety: one request.
// Errors:        those of upstream's decoder, converter or validation for another kind; they refuse the write regardless of the
//                failure policy.
// Source:        k8s.io/apimachinery/pkg/runtime/serializer/json, k8s.io/apiextensions-apiserver/pkg/registry/customresource.
#pragma once

#include "policies/object_form.hpp"

namespace backplane::admission::policies {

PatchError check_patched_kind(Value& whole, const ObjectForm& form);

}  // namespace backplane::admission::policies
