// ConversionReview: the request to a conversion webhook, and its valid responses (webhookConverter of k8s.io/apiextensions-apiserver).
//
// Thread-safety: pure functions.
// Errors:        code 500 without a reason, with upstream's messages: `conversion webhook for example.com/v1, Kind=Foo failed: …`.
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

// The kind of failure of a response, as a label of metrics.
enum class ReviewFault : unsigned char { kNone, kCall, kMalformed, kPartial, kInvalidObject };
std::string_view fault_name(ReviewFault fault) noexcept;

struct ReviewQuestion {
  std::string version;  // of the review: "v1", "v1beta1"
  std::string uid;
  std::string from_kind;  // "example.com/v1, Kind=Foo"
  std::string desired;    // "example.com/v2"
};

struct ReviewAnswer {
  ReviewFault fault = ReviewFault::kNone;
  std::string problem;          // the whole message
  std::vector<Object> objects;  // as many as in the request, with their metadata
};

// The first known version; empty: none is known.
std::string choose_review(const std::vector<std::string>& versions);
// The objects' type, for messages.
std::string kind_text(const GroupVersionKind& kind);

std::string ask(const ReviewQuestion& question, std::span<const Object> objects);

// Reads a response with a code from 200 to 206. `asked`: the objects of the request.
ReviewAnswer read_answer(const ReviewQuestion& question, std::span<const Object> asked, const WebhookAnswer& got);

}  // namespace backplane::apiextensions
