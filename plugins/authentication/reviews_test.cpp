#include "reviews.hpp"

#include <gtest/gtest.h>

#include "authentication_v1_json.hpp"
#include "backplane/kit/group.hpp"
#include "review_under_test.hpp"

namespace backplane::authentication {
namespace {

// Accepts the token "good" for the given audiences.
class Tokens final : public TokenAuthenticator {
 public:
  explicit Tokens(std::vector<std::string> audiences) : audiences_(std::move(audiences)) {}
  std::string_view name() const noexcept override { return "fake"; }
  Task<AuthenticationResult> authenticate_token(std::string token, std::vector<std::string> audiences) override {
    asked = audiences;
    if (token == "broken") co_return unauthorized("token has expired");
    if (token != "good") co_return std::optional<AuthenticationResponse>();
    AuthenticationResponse found;
    found.user.name = "jane";
    found.user.groups.emplace_back("devs");
    found.user.extra.emplace_back("scopes", std::vector<std::string>(1, "a"));
    found.audiences = audiences_;
    co_return std::optional<AuthenticationResponse>(std::move(found));
  }
  std::vector<std::string> asked;

 private:
  const std::vector<std::string> audiences_;
};

std::string review(Tokens& tokens, std::string_view spec, std::vector<std::string> api_audiences = {}) {
  const auto schemas = kit::embedded_schemas({authentication_v1_json()})->front();
  const auto storage = make_token_reviews(schemas, tokens, std::move(api_audiences));
  RequestContext context;
  return testing::answer_of(*storage, context, R"({"spec":)" + std::string(spec) + "}");
}

TEST(TokenReviews, NameTheUserOfAToken) {
  Tokens tokens({"a"});
  EXPECT_EQ(review(tokens, R"({"token":"good","audiences":["a","b"]})"),
            R"({"metadata":{},"spec":{"token":"good","audiences":["a","b"]},"status":{"authenticated":true,)"
            R"("user":{"username":"jane","groups":["devs"],"extra":{"scopes":["a"]}},"audiences":["a"]}})");
  EXPECT_EQ(tokens.asked, (std::vector<std::string>{"a", "b"}));
  review(tokens, R"({"token":"good"})", {"a"});
  EXPECT_EQ(tokens.asked, std::vector<std::string>{"a"}) << "the server's own";
}

TEST(TokenReviews, ReadTheTokenAsAHeaderHasIt) {
  Tokens tokens({"a"});
  for (const char* token : {"good\\n", "good x", "good\\t ", "good  "}) {
    const std::string answer = review(tokens, R"({"token":")" + std::string(token) + R"(","audiences":["a"]})");
    EXPECT_NE(answer.find(R"("authenticated":true)"), std::string::npos) << answer;
  }
  const std::string answer = review(tokens, R"({"token":" good","audiences":["a"]})");
  EXPECT_EQ(answer.find(R"("authenticated":true)"), std::string::npos) << answer;
}

TEST(TokenReviews, NameTheErrorOfAnInvalidToken) {
  Tokens tokens({"a"});
  EXPECT_EQ(review(tokens, R"({"token":"bad"})"),
            R"({"metadata":{},"spec":{"token":"bad"},"status":{"user":{},"error":"invalid bearer token"}})");
  EXPECT_EQ(review(tokens, R"({"token":"broken"})"),
            R"({"metadata":{},"spec":{"token":"broken"},"status":{"user":{},"error":"[invalid bearer token, token has expired]"}})");
  EXPECT_EQ(review(tokens, "{}"), "token is required for TokenReview in authentication");
  EXPECT_EQ(review(tokens, R"({"token":"good","audiences":["b"]})"), "Internal error occurred: error validating audiences");
}

TEST(SelfSubjectReviews, ReturnTheUser) {
  const auto storage = make_self_subject_reviews(kit::embedded_schemas({authentication_v1_json()})->front());
  RequestContext context;
  context.user = UserInfo{"jane", "u", {}, {}};
  const std::string answer = testing::answer_of(*storage, context, R"({"metadata":{"name":"x"}})");
  EXPECT_TRUE(answer.starts_with(R"({"metadata":{"creationTimestamp":")")) << answer;
  EXPECT_TRUE(answer.ends_with(R"(},"status":{"userInfo":{"username":"jane","uid":"u"}}})")) << answer;
}

}  // namespace
}  // namespace backplane::authentication
