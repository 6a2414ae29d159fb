#include "webhook/token_webhook.hpp"

#include <gtest/gtest.h>

#include "authentication_v1_json.hpp"
#include "backplane/kit/group.hpp"

namespace backplane::authentication {
namespace {

struct TokenWebhookTest : ::testing::Test {
  std::vector<std::shared_ptr<const SchemaSet>> schemas = *kit::embedded_schemas({authentication_v1_json()});
  const Schema* schema = schemas[0]->find(GroupVersionKind{"authentication.k8s.io", "v1", "TokenReview"});

  AuthenticationResult answer(const std::string& body, std::vector<std::string> wanted = {"api"}) const {
    auto review = read_token_review(*schema, "v1", body);
    if (!review.ok()) return std::move(review).status();
    return reviewed(*review, wanted, {"api"});
  }
};

TEST_F(TokenWebhookTest, TheReviewHasTokenAndAudiences) {
  EXPECT_EQ(
      token_review("v1beta1", "t", {"a", "b"}),
      R"({"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1beta1","metadata":{},"spec":{"token":"t","audiences":["a","b"]},)"
      R"("status":{"user":{}}})"
      "\n");
}

TEST_F(TokenWebhookTest, AnAuthenticatedUserIsTakenOver) {
  auto found =
      answer(R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview","status":{"authenticated":true,"audiences":["api","x"],
      "user":{"username":"jane","uid":"7","groups":["a"],"extra":{"k":["v"]}}}})");
  ASSERT_TRUE(found.ok() && found->has_value());
  EXPECT_EQ((*found)->user.name, "jane");
  EXPECT_EQ((*found)->user.uid, "7");
  EXPECT_EQ((*found)->user.groups, std::vector<std::string>{"a"});
  EXPECT_EQ((*found)->user.extra[0].second, std::vector<std::string>{"v"});
  EXPECT_EQ((*found)->audiences, std::vector<std::string>{"api"});
}

TEST_F(TokenWebhookTest, AudiencesThatTheAnswerLacksAreThoseOfTheServer) {
  const std::string body = R"({"status":{"authenticated":true,"user":{"username":"jane"}}})";
  EXPECT_EQ((*answer(body))->audiences, std::vector<std::string>{"api"});
  EXPECT_FALSE(answer(body, {"other"})->has_value());
  EXPECT_FALSE(answer(R"({"status":{"authenticated":true,"audiences":["other"],"user":{"username":"jane"}}})")->has_value());
}

TEST_F(TokenWebhookTest, ATokenThatIsNotAuthenticated) {
  EXPECT_FALSE(answer(R"({"status":{}})")->has_value());
  EXPECT_FALSE(answer(R"({})")->has_value());
  EXPECT_EQ(answer(R"({"status":{"authenticated":false,"error":"no"}})").status().message(), "no");
}

TEST_F(TokenWebhookTest, RubbishIsAnError) {
  for (const char* wrong :
       {"", "no", "[]", R"({"kind":"Pod","apiVersion":"v1"})", R"({"apiVersion":"authentication.k8s.io/v1beta1"})",
        R"({"status":{"authenticated":"yes"}})", R"({"status":[]})", R"({"status":{"authenticated":true,"user":"jane"}})"})
    EXPECT_FALSE(answer(wrong).ok()) << wrong;
}

}  // namespace
}  // namespace backplane::authentication
