#include "bootstrap/tokens.hpp"

#include <gtest/gtest.h>

namespace backplane::controllers {
namespace {

constexpr std::int64_t kNow = 1'800'000'000;  // 2027-01-15T08:00:00Z

Object token_secret(const std::string& expiration) {
  Object out = json::parse(R"({"type":"bootstrap.kubernetes.io/token","metadata":{"name":"bootstrap-token-abcdef"},
    "data":{"token-id":"YWJjZGVm","token-secret":"MDEyMzQ1Njc4OWFiY2RlZg==","usage-bootstrap-signing":"dHJ1ZQ=="}})")
                   .as_object();
  if (!expiration.empty()) out["data"].as_object()["expiration"] = expiration;
  return out;
}

TEST(BootstrapTokens, SignIfTheSecretIsComplete) {
  const auto token = signing_token(token_secret(""), kNow);
  ASSERT_TRUE(token);
  EXPECT_EQ(token->id, "abcdef");
  EXPECT_EQ(token->secret, "0123456789abcdef");
  for (const char* member : {"token-id", "token-secret", "usage-bootstrap-signing"}) {
    Object incomplete = token_secret("");
    incomplete["data"].as_object().erase(member);
    EXPECT_FALSE(signing_token(incomplete, kNow)) << member;
  }
  Object renamed = token_secret("");
  renamed["metadata"].as_object()["name"] = "bootstrap-token-abcdeg";
  EXPECT_FALSE(signing_token(renamed, kNow));
}

TEST(BootstrapTokens, ExpireAtTheirTimeAndIfItCannotBeRead) {
  EXPECT_EQ(seconds_to_expiry(token_secret(""), kNow), std::nullopt);
  EXPECT_EQ(seconds_to_expiry(token_secret("MjAyNy0wMS0xNVQwODowMDoxMFo="), kNow), 10);
  EXPECT_EQ(seconds_to_expiry(token_secret("c29vbg=="), kNow), 0) << "unreadable";
  EXPECT_FALSE(signing_token(token_secret("c29vbg=="), kNow));
}

// The signature that kubeadm's library computes for the same input (RFC 7515 with HS256).
TEST(BootstrapTokens, SignaturesHaveNoContent) {
  const std::string signature = detached_signature("content", {"abcdef", "0123456789abcdef"});
  EXPECT_EQ(signature.substr(0, signature.find("..")), "eyJhbGciOiJIUzI1NiIsImtpZCI6ImFiY2RlZiJ9");
  EXPECT_EQ(signature.size(), 40u + 2u + 43u);
  EXPECT_NE(signature, detached_signature("other", {"abcdef", "0123456789abcdef"}));
}

}  // namespace
}  // namespace backplane::controllers
