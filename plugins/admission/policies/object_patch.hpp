// Applies a mutation to an object and completes the result: canonical members and defaults.
//
// Thread-safety: one request.
// Lifetime:      results are in the storage of the object.
// Errors:        PatchError. The object is unchanged then.
// Source:        k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch.
#pragma once

#include <string>
#include <vector>

#include "backplane/types/cel_scope.hpp"
#include "policies/object_form.hpp"

namespace backplane::admission::policies {

// `configuration`: an Object{…}, which is merged into the object as server-side apply does, but without field owners. `go_values`: values
// in the configuration that have types which no field can have.
PatchError apply_configuration(Object& object, Object configuration, const ObjectForm& form,
                               const std::vector<cel::GoValue>& go_values = {});
// `operations`: RFC 6902. A failed test leaves the object unchanged, and is no error.
PatchError apply_json_patch(Object& object, const Array& operations, const ObjectForm& form);

}  // namespace backplane::admission::policies
