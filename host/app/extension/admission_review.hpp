// Answers AdmissionReviews (admission.k8s.io/v1) by calling an admission plugin.
//
// Thread-safety: review() from any executor.
// Lifetime:      the plugin outlives the call.
// Errors:        kBadRequest for a body that is not a review. If the plugin refuses the write, the answer has "allowed": false.
#pragma once

#include <string>
#include <string_view>

#include "backplane/core/status.hpp"
#include "backplane/core/task.hpp"
#include "backplane/rest/admission_runner.hpp"

namespace backplane {

// Returns the AdmissionReview that answers the one in `body`. If `mutating`, it calls admit() and returns the changes as a JSON patch;
// otherwise it calls validate(). The answer contains the warnings and the audit annotations. A "/" in an annotation's key becomes a ".",
// because kube-apiserver adds a prefix that ends with "/".
Task<Result<std::string>> answer_review(AdmissionRunner& rule, bool mutating, std::string body);

}  // namespace backplane
