#include "watchcache/continue_token.hpp"

#include <gtest/gtest.h>

namespace backplane {
namespace {

constexpr std::string_view kPrefix = "/registry/configmaps/ns/";

std::string decode_error(std::string_view token) {
  const auto decoded = decode_continue(token, kPrefix);
  return decoded.ok() ? "" : decoded.status().message();
}

TEST(ContinueToken, LooksAsUpstreamPrintsIt) {
  const std::string start = "/registry/configmaps/ns/c1" + std::string(1, '\0');
  // {"v":"meta.k8s.io/v1","rv":42,"start":"c1\u0000"}
  EXPECT_EQ(encode_continue(start, kPrefix, 42), "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6NDIsInN0YXJ0IjoiYzFcdTAwMDAifQ");
}

TEST(ContinueToken, RoundTrips) {
  const std::string start = "/registry/configmaps/ns/c1" + std::string(1, '\0');
  for (Revision revision : {1, 42, -1}) {
    const auto decoded = decode_continue(encode_continue(start, kPrefix, revision), kPrefix);
    ASSERT_TRUE(decoded.ok());
    EXPECT_EQ(decoded->start, start);
    EXPECT_EQ(decoded->revision, revision);
  }
}

TEST(ContinueToken, ABadTokenIsABadRequestWithAReason) {
  EXPECT_EQ(decode_continue("!", kPrefix).status().reason(), Reason::kBadRequest);
  EXPECT_EQ(decode_error("x"), "invalid continue token: continue key is not valid: illegal base64 data at input byte 0");
  EXPECT_EQ(decode_error("abcdx"), "invalid continue token: continue key is not valid: illegal base64 data at input byte 4");
  EXPECT_EQ(decode_error("ab!d"), "invalid continue token: continue key is not valid: illegal base64 data at input byte 2");
  // {"v":"meta.k8s.io/v1","rv":0,"start":"a"}
  EXPECT_EQ(decode_error("eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MCwic3RhcnQiOiJhIn0"),
            "invalid continue token: continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)");
  // {"v":"meta.k8s.io/v1","rv":3,"start":""}
  EXPECT_EQ(decode_error("eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6Mywic3RhcnQiOiIifQ"),
            "invalid continue token: continue key is not valid: encoded start key empty (version meta.k8s.io/v1)");
  // {"v":"v2","rv":3,"start":"a"}
  EXPECT_EQ(decode_error("eyJ2IjoidjIiLCJydiI6Mywic3RhcnQiOiJhIn0"),
            "invalid continue token: continue key is not valid: server does not recognize this encoded version v2");
}

TEST(ContinueToken, InvalidTokensAreRefusedWithGosText) {
  const std::vector<std::pair<std::string, std::string>> garbage = {
      {"bWlzdA", "invalid character 'm' looking for beginning of value"},                   // mist
      {"e2JhZA", "invalid character 'b' looking for beginning of object key string"},       // {bad
      {"W10", "json: cannot unmarshal array into Go value of type storage.continueToken"},  // []
      {"IngiCg", "json: cannot unmarshal string into Go value of type storage.continueToken"},
      {"bnVsbA", "server does not recognize this encoded version "},  // null
      {"e30", "server does not recognize this encoded version "},     // {}
      {"", "unexpected end of JSON input"},
      // {"v":1,"rv":"x"}
      {"eyJ2IjoxLCJydiI6IngifQ", "json: cannot unmarshal number into Go struct field continueToken.v of type string"},
      // {"v":"meta.k8s.io/v1","rv":"5","start":"a"}
      {"eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6IjUiLCJzdGFydCI6ImEifQ",
       "json: cannot unmarshal string into Go struct field continueToken.rv of type int64"},
      // {"v":"meta.k8s.io/v1","rv":1.5}
      {"eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MS41fQ",
       "json: cannot unmarshal number 1.5 into Go struct field continueToken.rv of type int64"},
  };
  for (const auto& [token, why] : garbage) {
    EXPECT_EQ(decode_error(token), "invalid continue token: continue key is not valid: " + why) << token;
  }
}

TEST(ContinueToken, MemberNamesAreTakenInAnyCase) {
  // {"V":"meta.k8s.io/v1","Rv":3,"START":"a"}
  EXPECT_EQ(decode_error("eyJWIjoibWV0YS5rOHMuaW8vdjEiLCJSdiI6MywiU1RBUlQiOiJhIn0"), "");
}

TEST(ContinueToken, AKeyOutsideTheListIsRefused) {
  const std::string prefix(kPrefix);
  for (const char* start : {"../secrets/x", "a/../../x", "./a", "a//b", "a/"}) {
    EXPECT_EQ(decode_error(encode_continue(prefix + start, kPrefix, 3)),
              std::string("invalid continue token: continue key is not valid: ") + start);
  }
}

}  // namespace
}  // namespace backplane
