// The response of a webhook, decoded as client-go decodes it, and the AdmissionReview in it, verified.
//
// Thread-safety: pure functions.
// Errors:        WebhookFailure with upstream's text.
// Source:        k8s.io/apiserver/pkg/admission/plugin/webhook/request (VerifyAdmissionResponse), client-go/rest/request.go.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "backplane/net/webhook.hpp"

namespace backplane::admission::webhooks {

// The reason why a call has no usable response.
struct WebhookFailure {
  std::string why;  // follows `failed calling webhook "name": `
  int code = 503;   // in the metrics
};

struct ReviewAnswer {
  bool allowed = false;
  Object result;           // a metav1.Status, normalized; empty if absent
  std::string patch;       // decoded; empty: none
  std::string patch_type;  // "JSONPatch" …
  std::vector<std::pair<std::string, std::string>> audit_annotations;
  std::vector<std::string> warnings;
};

using ReadAnswer = std::variant<ReviewAnswer, WebhookFailure>;

// `version`, `uid`: those of the review that was sent.
ReadAnswer read_review_answer(const WebhookAnswer& answer, std::string_view version, std::string_view uid, bool mutating);

// 400 or the code of the result, with the message `admission webhook "name" denied the request: …`.
Status denied_by(std::string_view webhook, const Object& result);
// Decodes the body of a response as an AdmissionReview of `version`. Errors: the text of the decoder.
Result<Object> decode_admission_review(std::string_view text, std::string_view version, json::storage_ptr storage);

}  // namespace backplane::admission::webhooks
