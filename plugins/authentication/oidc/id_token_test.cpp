#include "oidc/id_token.hpp"

#include <gtest/gtest.h>

#include "backplane/kit/base64url.hpp"

namespace backplane::authentication {
namespace {

using Seconds = std::chrono::seconds;

std::string token_with(std::string_view payload) { return "e30." + kit::to_base64url(payload) + ".c2ln"; }

TEST(UntrustedIssuerTest, OnlyACompactTokenHasOne) {
  EXPECT_EQ(*untrusted_issuer(token_with(R"({"iss":"https://a"})")), "https://a");
  EXPECT_EQ(*untrusted_issuer(token_with(R"({"iss":"accounts.google.com"})")), "https://accounts.google.com");
  EXPECT_EQ(*untrusted_issuer(token_with("{}")), "");
  EXPECT_EQ(untrusted_issuer(" {\"payload\":1}").status().message(), "token is not compact JWT");
  EXPECT_EQ(untrusted_issuer("a.b").status().message(), "malformed token");
  EXPECT_EQ(untrusted_issuer("a.b.c.d").status().message(), "malformed token");
  for (const auto& wrong : {std::string("a.!.c"), token_with("[]"), token_with("{"), token_with(R"({"iss":1})"), std::string()})
    EXPECT_FALSE(untrusted_issuer(wrong).ok()) << wrong;
}

struct CheckIdTokenTest : ::testing::Test {
  std::string error(const std::string& claims, std::vector<std::string> audiences = {"app"}) const {
    auto checked = check_id_token(claims, {"https://a", std::move(audiences), std::chrono::system_clock::time_point(Seconds(1000))});
    return checked.ok() ? "" : checked.status().message();
  }
};

TEST_F(CheckIdTokenTest, AValidTokenHasIssuerAudienceAndExpiry) {
  EXPECT_EQ(error(R"({"iss":"https://a","aud":"app","exp":1000})"), "");
  EXPECT_EQ(error(R"({"iss":"https://a","aud":["x","app"],"exp":1000.5,"nbf":1060})"), "");
}

TEST_F(CheckIdTokenTest, Times) {
  EXPECT_EQ(error(R"({"iss":"https://a","aud":"app"})"), "oidc: token is expired (Token Expiry: 0001-01-01 00:00:00 +0000 UTC)");
  EXPECT_EQ(error(R"({"iss":"https://a","aud":"app","exp":999})"), "oidc: token is expired (Token Expiry: 1970-01-01 00:16:39 +0000 UTC)");
  EXPECT_EQ(error(R"({"iss":"https://a","aud":"app","exp":2000,"nbf":1061})"),
            "oidc: current time 1970-01-01 00:16:40 +0000 UTC before the nbf (not before) time: 1970-01-01 00:17:41 +0000 UTC");
  for (const char* wrong : {"\"2000 \"", "\"x\"", "\"\"", "true", "1e30", "-1e30", "[]", "{}"})
    EXPECT_TRUE(
        error(std::string(R"({"iss":"https://a","aud":"app","exp":)") + wrong + "}").starts_with("oidc: failed to unmarshal claims: "))
        << wrong;
}

TEST_F(CheckIdTokenTest, ATimeMayBeANumberInAString) {
  EXPECT_EQ(error(R"({"iss":"https://a","aud":"app","exp":"2000","iat":"1e3"})"), "");
  EXPECT_TRUE(error(R"({"iss":"https://a","aud":"app","exp":"999"})").starts_with("oidc: token is expired"));
}

TEST_F(CheckIdTokenTest, ATimeThatIsNoNumberIsAnError) {
  const std::string malformed = "oidc: failed to unmarshal claims: ";
  EXPECT_EQ(error(R"({"iss":"https://a","aud":"app","exp":"x"})"),
            malformed + R"(json: invalid number literal, trying to unmarshal "\"x\"" into Number)");
  EXPECT_EQ(error(R"({"iss":"https://a","aud":"app","exp":true})"),
            malformed + "json: cannot unmarshal bool into Go value of type json.Number");
  for (const char* name : {"exp", "iat"}) {
    const std::string token = R"({"iss":"https://a","aud":"app",")" + std::string(name) + R"(":null})";
    EXPECT_EQ(error(token), malformed + R"(strconv.ParseFloat: parsing "": invalid syntax)") << name;
  }
  EXPECT_EQ(error(R"({"iss":"https://a","aud":"app","exp":2000,"nbf":null})"), "");
}

TEST_F(CheckIdTokenTest, TheOrderOfTheChecksIsUpstreams) {
  const auto token = [](const char* more) { return std::string(R"({"iss":"https://b","aud":"x","exp":1)") + more + "}"; };
  EXPECT_EQ(error(token(R"(,"sub":1)")),
            "oidc: failed to unmarshal claims: json: cannot unmarshal number into Go struct field idToken.sub of type string");
  EXPECT_TRUE(error(token(R"(,"iat":[])")).starts_with("oidc: failed to unmarshal claims: "));
  EXPECT_EQ(error(token(R"(,"_claim_names":{"a":"s"})")), "oidc: source does not exist");
  EXPECT_TRUE(error(token("")).starts_with("oidc: id token issued by a different provider"));
  const std::string old = R"({"iss":"https://a","aud":"x","exp":1})";
  EXPECT_EQ(error(old), "oidc: expected audience \"app\" got [\"x\"]");
  EXPECT_TRUE(error(old, {"app", "b"}).starts_with("oidc: token is expired")) << "several audiences come last";
}

TEST_F(CheckIdTokenTest, IssuerAndAudience) {
  EXPECT_EQ(error(R"({"iss":"https://b","aud":"app","exp":2000})"),
            "oidc: id token issued by a different provider, expected \"https://a\" got \"https://b\"");
  EXPECT_EQ(error(R"({"iss":"https://a","aud":["x"],"exp":2000})"), "oidc: expected audience \"app\" got [\"x\"]");
  EXPECT_EQ(error(R"({"iss":"https://a","exp":2000})"), "oidc: expected audience \"app\" got []");
  EXPECT_EQ(error(R"({"iss":"https://a","aud":null,"exp":2000})"), "oidc: expected audience \"app\" got [\"\"]");
  EXPECT_EQ(error(R"({"iss":"https://a","aud":"x","exp":2000})", {"b", "a"}), "oidc: expected audience in [\"a\" \"b\"] got [\"x\"]");
  EXPECT_EQ(error(R"({"iss":"https://a","aud":"b","exp":2000})", {"b", "a"}), "");
  EXPECT_NE(error(R"({"iss":"https://a","aud":"x","exp":2000})", {}), "");
  EXPECT_TRUE(error(R"({"iss":"https://a","aud":[1],"exp":2000})").starts_with("oidc: failed to unmarshal claims: "));
}

TEST_F(CheckIdTokenTest, DistributedClaimsNeedSources) {
  const auto with = [](const char* more) { return std::string(R"({"iss":"https://a","aud":"app","exp":2000,)") + more + "}"; };
  EXPECT_EQ(error(with(R"("_claim_names":{"groups":"s"})")), "oidc: source does not exist");
  EXPECT_EQ(error(with(R"("_claim_names":{"groups":""})")), "oidc: failed to obtain source from claim name");
  EXPECT_EQ(error(with(R"("_claim_names":{"groups":"s"},"_claim_sources":{"s":{}})")), "");
}

TEST_F(CheckIdTokenTest, PayloadsThatAreNoClaims) {
  for (const char* wrong : {"", "{", "[]", "1", "\"a\""}) EXPECT_FALSE(error(wrong).empty()) << wrong;
  EXPECT_FALSE(error(std::string(100'000, '[')).empty());
}

}  // namespace
}  // namespace backplane::authentication
