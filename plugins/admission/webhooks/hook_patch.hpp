// The JSON patch of a mutating webhook: decoded, applied, and the result completed as an object of its kind.
//
// Thread-safety: pure functions, but for normalize_patched() and default_patched(), which look up the storage; any executor.
// Errors:        the text of json-patch, for `Internal error occurred: …`.
// Source:        k8s.io/apiserver/pkg/admission/plugin/webhook/mutating/dispatcher.go, gopkg.in/evanphx/json-patch.v4.
#pragma once

#include <string>
#include <string_view>

#include "backplane/core/json.hpp"
#include "backplane/host.hpp"
#include "backplane/points/admission.hpp"
#include "webhooks/review_request.hpp"

namespace backplane::admission::webhooks {

// A list of operations. Errors: Go's JSON errors.
Result<Array> decode_hook_patch(std::string_view text, json::storage_ptr storage);
// The patched object, in the memory of `object`: always an object.
Result<Value> apply_hook_patch(const Object& object, const Array& operations);
// Brings the object into the form of its kind: unknown members go, types are checked. Errors: the decoder's.
Status normalize_patched(Host& host, const ReviewTarget& target, Value& object);
// Sets the defaults of its kind.
void default_patched(Host& host, const ReviewTarget& target, Value& object);
// The value of the audit annotation patch.webhook.admission.k8s.io/….
std::string patch_annotation(std::string_view configuration, std::string_view webhook, const Array& operations);
std::string mutation_annotation(std::string_view configuration, std::string_view webhook, bool mutated);

}  // namespace backplane::admission::webhooks
