// The JSON patch of a mutating webhook: decoded, applied, and the result completed as an object of its kind.
//
// Thread-safety: pure functions.
// Errors:        the text of json-patch, for `Internal error occurred: …`.
// Source:        k8s.io/apiserver/pkg/admission/plugin/webhook/mutating/dispatcher.go, gopkg.in/evanphx/json-patch.v4.
#pragma once

#include <string>
#include <string_view>

#include "backplane/core/json.hpp"
#include "backplane/points/admission.hpp"
#include "common/served_as.hpp"
#include "common/versioned_objects.hpp"

namespace backplane::admission::webhooks {

// A list of operations. Errors: Go's JSON errors.
Result<Array> decode_hook_patch(std::string_view text, json::storage_ptr storage);
// Returns the patched object, in the memory of `object`. The result is always an object.
Result<Value> apply_hook_patch(const Object& object, const Array& operations);
// Converts the object to the canonical form of its kind: removes unknown members, checks types, restores a removed kind. Errors: those of
// the decoder.
Status normalize_patched(const ServedType& type, Value& object);
// True if this request has written entries of managedFields. Upstream compares their times in nanoseconds, which the first decoding of the
// object removes, so that any patch counts as a change. Objects of custom kinds hold such times as text.
bool has_new_times(const ServedType& type, const VersionedObjects& objects);
// The value of the audit annotation patch.webhook.admission.k8s.io/….
std::string patch_annotation(std::string_view configuration, std::string_view webhook, const Array& operations);
std::string mutation_annotation(std::string_view configuration, std::string_view webhook, bool mutated);

}  // namespace backplane::admission::webhooks
