// The SubjectAccessReview that is sent to a webhook, and its response.
//
// Thread-safety: pure functions; AccessReviewDecoder is immutable.
// Source:        k8s.io/apiserver/plugin/pkg/authorizer/webhook/webhook.go, pkg/authorization/cel/compile.go.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "backplane/core/json.hpp"
#include "backplane/points/authorization.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::authorization {

// Returns the spec of the review, in the order of Go's struct and without empty members. `version`: v1 or v1beta1.
Object review_spec(const RequestView& request, std::string_view version);
// Returns the body that is sent.
std::string review_body(const Object& spec, std::string_view version);

// Returns the variable `request` of match conditions. It contains every string of the request, even empty ones. It contains selectors if
// `selectors`.
Value condition_request(const RequestView& request, bool selectors);

// True if the response may be cached: the strings that the client controls are short.
bool is_cacheable(const RequestView& request) noexcept;

// The status of a review.
struct ReviewStatus {
  bool allowed = false;
  bool denied = false;
  std::string reason;
};

class AccessReviewDecoder {
 public:
  // `schemas`: those of authorization.k8s.io/v1.
  AccessReviewDecoder(std::shared_ptr<const SchemaSet> schemas, std::string version);
  // Returns the status object of a response body. Errors: a body that is not a review of the version, or whose members have wrong types.
  Result<Object> decode(std::string_view body) const;

 private:
  const std::shared_ptr<const SchemaSet> schemas_;
  const Schema* schema_;
  const std::string version_;
};
ReviewStatus review_status(const Object& status);

}  // namespace backplane::authorization
