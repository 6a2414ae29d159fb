#include "anonymous.hpp"

#include <gtest/gtest.h>

namespace backplane::authentication {
namespace {

bool allowed(const AnonymousConfig& config, std::string_view target) {
  const auto found = AnonymousAuthenticator(config).without_credentials(target);
  return found.ok() && found->has_value() && (*found)->user.name == "system:anonymous" &&
         (*found)->user.groups == std::vector<std::string>{"system:unauthenticated"};
}

TEST(AnonymousAuthenticatorTest, WithoutConditionsEveryPathIsAllowed) {
  EXPECT_TRUE(allowed({true, {}}, "/api/v1/pods"));
  EXPECT_FALSE(allowed({false, {}}, "/livez"));
}

TEST(AnonymousAuthenticatorTest, AConditionIsAPathAndNoPrefix) {
  const AnonymousConfig config{true, {"/livez", "/readyz"}};
  for (const char* yes : {"/livez", "/readyz", "/livez?verbose", "/%6Civez"}) EXPECT_TRUE(allowed(config, yes)) << yes;
  for (const char* no : {"/", "/livez/", "/livez/ping", "/livezz", "/api", "/version?x=/livez", "/Livez"})
    EXPECT_FALSE(allowed(config, no)) << no;
}

TEST(AnonymousAuthenticatorTest, ARefusedRequestGets401) {
  EXPECT_EQ(AnonymousAuthenticator({true, {"/livez"}}).without_credentials("/api").status().code(), 401);
}

}  // namespace
}  // namespace backplane::authentication
