// Writes the ConversionReview for a conversion webhook, and checks the response (webhookConverter of k8s.io/apiextensions-apiserver).
//
// Thread-safety: pure functions.
// Errors:        ReviewAnswer::fault, and upstream's message in ReviewAnswer::problem:
//                `conversion webhook for example.com/v1, Kind=Foo failed: …`.
//                ConversionWebhook::convert() returns the message with code 500 and no reason.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/core/status.hpp"
#include "backplane/net/webhook.hpp"

namespace backplane::apiextensions {

// Why a call failed. fault_name() returns the value of the metrics' label `failure_type`: empty for kNone.
enum class ReviewFault : unsigned char { kNone, kCall, kMalformed, kPartial, kInvalidObject };
std::string_view fault_name(ReviewFault fault) noexcept;

struct ReviewQuestion {
  std::string version;  // the version of the review: "v1" or "v1beta1"
  std::string uid;
  std::string from_kind;  // "example.com/v1, Kind=Foo"
  std::string desired;    // "example.com/v2"
};

struct ReviewAnswer {
  ReviewFault fault = ReviewFault::kNone;
  std::string problem;  // the whole message
  // The converted objects, with the metadata of the originals except labels and annotations. One for each object of the request if `fault`
  // is kNone; fewer otherwise.
  std::vector<Object> objects;
};

// The first of `versions` (conversionReviewVersions) that is "v1" or "v1beta1"; empty if there is none.
std::string choose_review(const std::vector<std::string>& versions);
// "example.com/v1, Kind=Foo".
std::string kind_text(const GroupVersionKind& kind);

std::string ask(const ReviewQuestion& question, std::span<const Object> objects);

// Reads a response with a code from 200 to 206. `asked`: the objects of the request.
ReviewAnswer read_answer(const ReviewQuestion& question, std::span<const Object> asked, const WebhookAnswer& got);

}  // namespace backplane::apiextensions
