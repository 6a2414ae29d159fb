#include "oidc/claim_user.hpp"

#include <gtest/gtest.h>

#include "config/validation.hpp"

namespace backplane::authentication {
namespace {

struct ClaimUserTest : ::testing::Test {
  ClaimUserTest() {
    jwt.issuer.url = "https://a";
    jwt.issuer.audiences = {"app"};
    jwt.username.claim = "sub";
    jwt.username.prefix = "p:";
  }
  Result<UserInfo> user(std::string_view claims) const {
    ValidatedConfig validated = validate({{jwt}, {}}, {});
    EXPECT_EQ(validated.errors.aggregate_message(), "");
    return ClaimUser(jwt, std::move(validated.expressions[0])).user_of(json::parse(claims).get_object());
  }
  std::string error(std::string_view claims) const {
    auto found = user(claims);
    return found.ok() ? "no error: " + found->name : found.status().message();
  }
  JwtConfig jwt;
};

TEST_F(ClaimUserTest, ClaimsWithPrefixes) {
  jwt.groups.claim = "groups";
  jwt.groups.prefix = "g:";
  jwt.uid.claim = "id";
  auto found = user(R"({"sub":"jane","groups":["a","b"],"id":"u1","jti":"t1"})");
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_EQ(found->name, "p:jane");
  EXPECT_EQ(found->groups, (std::vector<std::string>{"g:a", "g:b"}));
  EXPECT_EQ(found->uid, "u1");
  ASSERT_EQ(found->extra.size(), 1u);
  EXPECT_EQ(found->extra[0].first, "authentication.kubernetes.io/credential-id");
  EXPECT_EQ(found->extra[0].second, std::vector<std::string>{"JTI=t1"});
  EXPECT_EQ(user(R"({"sub":"jane","groups":"one","id":""})")->groups, std::vector<std::string>{"g:one"});
  EXPECT_TRUE(user(R"({"sub":"jane","id":""})")->groups.empty());
}

TEST_F(ClaimUserTest, ClaimsOfOtherTypesAreErrors) {
  jwt.groups.claim = "groups";
  jwt.groups.prefix = "";
  EXPECT_EQ(error("{}"), "oidc: parse username claims \"sub\": claim not present");
  EXPECT_EQ(error(R"({"sub":1})"), "oidc: parse username claims \"sub\": json: cannot unmarshal number into Go value of type string");
  EXPECT_EQ(error(R"({"sub":"a","groups":{}})"),
            "oidc: parse groups claim \"groups\": json: cannot unmarshal object into Go value of type string");
  EXPECT_EQ(error(R"({"sub":"a","groups":[1]})"),
            "oidc: parse groups claim \"groups\": json: cannot unmarshal array into Go value of type string");
  jwt.uid.claim = "id";
  EXPECT_EQ(error(R"({"sub":"a"})"), "oidc: parse uid claim \"id\": claim not present");
}

TEST_F(ClaimUserTest, AnEmailMustNotBeUnverified) {
  jwt.username = {"email", "", ""};
  EXPECT_EQ(user(R"({"email":"a@b","email_verified":true})")->name, "a@b");
  EXPECT_EQ(user(R"({"email":"a@b"})")->name, "a@b");
  EXPECT_EQ(error(R"({"email":"a@b","email_verified":false})"), "oidc: email not verified");
  EXPECT_EQ(error(R"({"email":"a@b","email_verified":"true"})"),
            "oidc: parse 'email_verified' claim: json: cannot unmarshal string into Go value of type bool");
}

TEST_F(ClaimUserTest, RequiredClaims) {
  jwt.claim_rules = {{"hd", "example.com", "", ""}};
  EXPECT_EQ(user(R"({"sub":"a","hd":"example.com"})")->name, "p:a");
  EXPECT_EQ(error(R"({"sub":"a"})"), "oidc: required claim hd not present in ID token");
  EXPECT_EQ(error(R"({"sub":"a","hd":1})"), "oidc: parse claim hd: json: cannot unmarshal number into Go value of type string");
  EXPECT_EQ(error(R"({"sub":"a","hd":"evil.com"})"), "oidc: required claim hd value does not match. Got = evil.com, want = example.com");
}

TEST_F(ClaimUserTest, Expressions) {
  jwt.username = {"", std::nullopt, "claims.sub + '@x'"};
  jwt.groups = {"", std::nullopt, "claims.roles"};
  jwt.uid = {"", std::nullopt, "claims.id"};
  jwt.extra = {{"example.org/team", "claims.?team.orValue('')"}};
  auto found = user(R"({"sub":"a","roles":["r",""],"id":"7","team":"blue"})");
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_EQ(found->name, "a@x");
  EXPECT_EQ(found->groups, std::vector<std::string>{"r"});
  EXPECT_EQ(found->uid, "7");
  EXPECT_EQ(found->extra[0].second, std::vector<std::string>{"blue"});
  EXPECT_TRUE(user(R"({"sub":"a","roles":null,"id":"7"})")->extra.empty());
  EXPECT_EQ(error(R"({"sub":"a","roles":1,"id":"7"})"),
            "oidc: error evaluating group claim expression: expression must return a string or a list of strings");
  EXPECT_EQ(error(R"({"sub":"a","roles":[],"id":7})"),
            "oidc: error evaluating uid claim expression: uid claim expression must return a string");
  EXPECT_EQ(error(R"({"roles":[],"id":"7"})"),
            "oidc: error evaluating username claim expression: expression 'claims.sub + '@x'' resulted in error: no such key: sub");
}

TEST_F(ClaimUserTest, AnExpressionForTheUsernameMustReturnText) {
  jwt.username = {"", std::nullopt, "claims.sub"};
  EXPECT_EQ(error(R"({"sub":""})"), "oidc: empty username via CEL expression is not allowed");
  EXPECT_EQ(error(R"({"sub":["a"]})"), "oidc: error evaluating username claim expression: username claim expression must return a string");
  jwt.username.expression = "duration('1h')";
  EXPECT_EQ(error("{}"), "oidc: error evaluating username claim expression: username claim expression must return a string");
}

TEST_F(ClaimUserTest, RulesOverClaimsAndUser) {
  jwt.username.prefix = "";
  jwt.claim_rules = {{"", "", "claims.exp - claims.nbf <= 86400.0", "total token lifetime must not exceed 24 hours"}};
  jwt.user_rules = {{"!user.username.startsWith('system:')", "username cannot used reserved system: prefix"}};
  EXPECT_EQ(user(R"({"sub":"a","exp":10,"nbf":1})")->name, "a");
  EXPECT_EQ(error(R"({"sub":"a","exp":100000,"nbf":1})"),
            "oidc: error evaluating claim validation expression: validation expression 'claims.exp - claims.nbf <= 86400.0' failed: total "
            "token lifetime must not exceed 24 hours");
  EXPECT_EQ(
      error(R"({"sub":"system:admin","exp":10,"nbf":1})"),
      "oidc: error evaluating user info validation rule: validation expression '!user.username.startsWith('system:')' failed: username "
      "cannot used reserved system: prefix");
}

}  // namespace
}  // namespace backplane::authentication
