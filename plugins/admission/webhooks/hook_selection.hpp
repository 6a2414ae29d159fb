// Whether a webhook is called for a write: upstream's ShouldCallHook, with the match conditions.
//
// Thread-safety: belongs to one write.
// Errors:        those of WriteMatch; 500 for objects that cannot be converted; 403 for match conditions that cannot be evaluated, if the
//                failure policy is Fail.
// Source:        k8s.io/apiserver/pkg/admission/plugin/webhook/generic/webhook.go.
#pragma once

#include <optional>

#include "common/versioned_objects.hpp"
#include "webhooks/hook_match.hpp"

namespace backplane::admission::webhooks {

// Returns the resource and kind that the webhook receives; nullopt: it is not called. `object`: the object as previous webhooks have
// changed it, or null.
Task<Result<std::optional<ServedAs>>> should_call(Host& host, const Hook& hook, const AdmissionAttributes& attributes, WriteMatch& match,
                                                  VersionSource& versions, const Object* object);

}  // namespace backplane::admission::webhooks
