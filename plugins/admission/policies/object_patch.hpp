// Changes an object as a mutation says, and completes it: canonical members and defaults.
//
// Thread-safety: one request.
// Lifetime:      results are in the storage of the object.
// Errors:        PatchError. The object is unchanged then.
// Source:        k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch.
#pragma once

#include <string>

#include "backplane/core/meta.hpp"
#include "backplane/core/status.hpp"
#include "backplane/rest/strategy.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::admission::policies {

// How objects of the version look.
struct ObjectForm {
  GroupVersionKind kind;
  const Schema* schema = nullptr;      // null: unknown, nothing is checked
  const Strategy* strategy = nullptr;  // for its defaults; null: none
};

struct PatchError {
  std::string text;  // refuses the write unless the policy ignores failures
  Status status;     // or: refuses the write in any case
  bool ok() const noexcept { return text.empty() && status.ok(); }
};

// `configuration`: an Object{…}, merged into the object as server-side apply does, without owners.
PatchError apply_configuration(Object& object, Object configuration, const ObjectForm& form);
// `operations`: RFC 6902. A failed test leaves the object unchanged, and is no error.
PatchError apply_json_patch(Object& object, const Array& operations, const ObjectForm& form);

}  // namespace backplane::admission::policies
