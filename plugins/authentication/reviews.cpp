#include "reviews.hpp"

#include <algorithm>

#include "backplane/core/json_access.hpp"
#include "backplane/points/admission.hpp"
#include "tokens/bearer.hpp"

namespace backplane::authentication {
namespace {

using namespace kit;

GroupVersionKind kind_of(std::string kind) { return {"authentication.k8s.io", "v1", std::move(kind)}; }

bool has_one_of(const std::vector<std::string>& found, const std::vector<std::string>& wanted) {
  return std::any_of(found.begin(), found.end(),
                     [&](const std::string& each) { return std::find(wanted.begin(), wanted.end(), each) != wanted.end(); });
}

constexpr std::string_view kInvalidToken = "invalid bearer token";

// kube-apiserver calls the authenticator of its loopback token first. It recognizes no other token, so its error precedes the errors of the
// other authenticators.
std::string review_error(std::string_view error) {
  if (error == kInvalidToken) return std::string(error);
  const bool several = error.starts_with('[') && error.ends_with(']');
  return "[" + std::string(kInvalidToken) + ", " + std::string(several ? error.substr(1, error.size() - 2) : error) + "]";
}

class TokenReviews final : public ReviewStorage {
 public:
  TokenReviews(std::shared_ptr<const SchemaSet> schemas, TokenAuthenticator& tokens, std::vector<std::string> api_audiences)
      : ReviewStorage(kind_of("TokenReview"), std::move(schemas)), tokens_(tokens), api_audiences_(std::move(api_audiences)) {}

 protected:
  Status check(const Object& review) const override {
    const bool empty = get_string(object_or_empty(review, "spec"), "token").empty();
    return empty ? bad_request("token is required for TokenReview in authentication") : Status();
  }
  Task<Status> answer(RequestContext&, Object& review) const override {
    const Object& spec = object_or_empty(review, "spec");
    std::string token(get_string(spec, "token"));
    std::vector<std::string> audiences = texts_of(spec, "audiences");
    if (audiences.empty()) audiences = api_audiences_;
    // Upstream puts the token into an Authorization header, and reads that.
    auto asking = tokens_.authenticate_token(token_in("Bearer " + token).token, audiences);
    auto known = co_await std::move(asking);
    // As upstream, retains members of the status that the client has sent, unless the response sets them.
    Object& status = ensure_object(review, "status");
    status.erase("authenticated");
    if (!known.ok() || !known->has_value()) {
      status["error"] = review_error(known.ok() ? kInvalidToken : std::string_view(known.status().message()));
      co_return Status();
    }
    const AuthenticationResponse& found = **known;
    if (!audiences.empty() && !has_one_of(found.audiences, audiences)) co_return internal_error("error validating audiences");
    status["authenticated"] = true;
    status["user"] = user_info(found.user);
    status["audiences"] = Array(found.audiences.begin(), found.audiences.end());
    co_return Status();
  }

 private:
  TokenAuthenticator& tokens_;
  const std::vector<std::string> api_audiences_;
};

// Returns the user of the request. Ignores the content of the review.
class SelfSubjectReviews final : public ReviewStorage {
 public:
  explicit SelfSubjectReviews(std::shared_ptr<const SchemaSet> schemas) : ReviewStorage(kind_of("SelfSubjectReview"), std::move(schemas)) {}

 protected:
  Task<Status> answer(RequestContext& context, Object& review) const override {
    review["metadata"].emplace_object()["creationTimestamp"] = now_rfc3339();
    review["status"].emplace_object()["userInfo"] = user_info(context.user);
    co_return Status();
  }
};

}  // namespace

std::shared_ptr<RestStorage> make_token_reviews(std::shared_ptr<const SchemaSet> schemas, TokenAuthenticator& tokens,
                                                std::vector<std::string> api_audiences) {
  return std::make_shared<TokenReviews>(std::move(schemas), tokens, std::move(api_audiences));
}

std::shared_ptr<RestStorage> make_self_subject_reviews(std::shared_ptr<const SchemaSet> schemas) {
  return std::make_shared<SelfSubjectReviews>(std::move(schemas));
}

}  // namespace backplane::authentication
