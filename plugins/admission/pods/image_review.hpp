// ImageReview of imagepolicy.k8s.io/v1alpha1: the request about the images of a pod, and the response.
//
// Thread-safety: pure functions.
// Errors:        kBadRequest for a response that is not an ImageReview, with the text of upstream's decoder.
// Source:        k8s.io/api/imagepolicy/v1alpha1.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "backplane/points/admission.hpp"

namespace backplane::admission::pods {

struct ImageReviewStatus {
  bool allowed = false;
  std::string reason;
  std::vector<std::pair<std::string, std::string>> audit_annotations;
};

// The spec of the review of a write of a pod, or of its ephemeral containers, as JSON.
std::string image_review_spec(const AdmissionAttributes& attributes);
// The body of the request.
std::string image_review(const std::string& spec);

// The response body as an ImageReview, for ReviewWebhook::post().
Result<Object> read_image_review(std::string_view body);
ImageReviewStatus image_review_status(const Object& review);

}  // namespace backplane::admission::pods
