// Decodes one document of a manifest to objects of admissionregistration.k8s.io/v1.
//
// Thread-safety: pure functions.
// Errors:        kBadRequest with the texts of upstream's decoders.
#pragma once

#include <string>
#include <string_view>

#include "backplane/core/meta.hpp"
#include "backplane/core/status.hpp"

namespace backplane::admission::manifests {

struct DecodedManifest {
  GroupVersionKind kind;
  Value tree;
};
// Parses the document; unknown and duplicate fields of known kinds are errors.
Result<DecodedManifest> decode_manifest(std::string_view text);
// Decodes an item of a v1 List in the same way.
Result<DecodedManifest> decode_item(Value tree);
// The type of the object as Go prints it: "*v1.ValidatingAdmissionPolicy".
std::string go_type(const GroupVersionKind& kind);

// Sets the defaults of the kind and validates the object. Errors: `Kind "name": …`, with the texts of the API's validation.
Status complete_object(std::string_view kind, Value& tree);

}  // namespace backplane::admission::manifests
