// The structure of objects of a version, and the completion of an object that a mutation has changed: canonical members and defaults.
//
// Thread-safety: one request.
// Errors:        PatchError, with the texts of upstream's decoders.
#pragma once

#include <string>

#include "backplane/core/meta.hpp"
#include "backplane/core/status.hpp"
#include "backplane/types/schema.hpp"
#include "common/served_as.hpp"

namespace backplane::admission::policies {

// The type of the objects that a mutation changes.
struct ObjectForm : ServedType {
  bool has_type = true;  // false: the document of its group version does not have the kind
};

struct PatchError {
  std::string text;  // refuses the write unless the policy ignores failures
  Status status;     // refuses the write regardless of the failure policy
  bool ok() const noexcept { return text.empty() && status.ok(); }
};

inline bool is_structural(const ObjectForm& form) noexcept { return form.schema != nullptr && form.schema->structural(); }
// As Go prints a GroupVersionKind.
inline std::string kind_text(const GroupVersionKind& kind) { return kind.group + "/" + kind.version + ", Kind=" + kind.kind; }

// Whether upstream has decoded the object from JSON, where unknown members are errors, or from a map.
enum class Decoding : unsigned char { kStrict, kMap };
PatchError complete_patched(Value& whole, const ObjectForm& form, Decoding decoding);

}  // namespace backplane::admission::policies
