// AdmissionReviews (admission.k8s.io/v1) as calls of an admission plugin.
//
// Thread-safety: review() from any executor.
// Lifetime:      the plugin outlives the call.
// Errors:        kBadRequest for a body that is not a review; a refusal of the plugin is an answer.
#pragma once

#include <string>
#include <string_view>

#include "backplane/core/status.hpp"
#include "backplane/core/task.hpp"
#include "backplane/rest/admission_runner.hpp"

namespace backplane {

// The AdmissionReview that answers the one in `body`. `mutating`: the mutating step, whose changes are a JSON patch; else the validating
// one. Warnings and audit annotations are in the answer; the "/" in an annotation's key is a ".", because the caller adds a prefix.
Task<Result<std::string>> answer_review(AdmissionRunner& rule, bool mutating, std::string body);

}  // namespace backplane
