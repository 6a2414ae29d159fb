#include "backplane/types/api_lifecycle.hpp"

#include <gtest/gtest.h>

#include "backplane/kit/group_document.hpp"

namespace backplane {
namespace {

TEST(Lifecycle, TheWarningSaysWhatIsKnown) {
  const GroupVersionKind kind{"networking.k8s.io", "v1beta1", "IPAddress"};
  ApiLifecycle life{{1, 31}, {1, 34}, {1, 37}, {"networking.k8s.io", "v1", "IPAddress"}};
  EXPECT_EQ(life.warning(kind),
            "networking.k8s.io/v1beta1 IPAddress is deprecated in v1.34+, unavailable in v1.37+; use networking.k8s.io/v1 IPAddress");
  life.replacement = {};
  EXPECT_EQ(life.warning(kind), "networking.k8s.io/v1beta1 IPAddress is deprecated in v1.34+, unavailable in v1.37+");
  life.removed = {};
  EXPECT_EQ(life.warning({"", "v1", "Endpoints"}), "v1 Endpoints is deprecated in v1.34+");
  life.deprecated = {};
  EXPECT_EQ(life.warning(kind), "");
}

TEST(Lifecycle, AKindIsDeprecatedFromItsReleaseOn) {
  const ApiLifecycle life{{1, 36}, {1, 39}, {1, 42}, {}};
  EXPECT_FALSE(life.deprecated_in({1, 36}));
  EXPECT_FALSE(life.deprecated_in({1, 38}));
  EXPECT_TRUE(life.deprecated_in({1, 39}));
  EXPECT_TRUE(life.deprecated_in({2, 0}));
  EXPECT_FALSE(ApiLifecycle{}.deprecated_in({1, 36}));
}

TEST(Lifecycle, TextsAreReleasesAndKinds) {
  EXPECT_EQ(parse_release("1.36"), (ApiRelease{1, 36}));
  for (const char* text : {"", "1", "1.", ".1", "1.x", "1.36.1", "-1.2"}) EXPECT_FALSE(parse_release(text)) << text;
  EXPECT_EQ(parse_kind("apps/v1 Deployment"), (GroupVersionKind{"apps", "v1", "Deployment"}));
  EXPECT_EQ(parse_kind("v1 Pod"), (GroupVersionKind{"", "v1", "Pod"}));
  for (const char* text : {"", "apps/v1", "apps/v1 ", " Deployment"}) EXPECT_FALSE(parse_kind(text)) << text;
}

TEST(Lifecycle, AGroupDocumentSaysItForEachVersion) {
  constexpr std::string_view kDocument = R"({"group":"e.com","versions":[{"name":"v1"},{"name":"v1beta1"}],"kinds":[
      {"resource":"things","kind":"Thing","versions":["v1","v1beta1"],"sameForm":true,
       "lifecycle":{"v1":{"introduced":"1.30"},
                    "v1beta1":{"introduced":"1.28","deprecated":"1.30","removed":"1.33","replacement":"e.com/v1 Thing"}}}]})";
  const auto read = kit::read_group(kDocument, {});
  ASSERT_TRUE(read.ok()) << read.status().message();
  ASSERT_EQ(read->kinds.size(), 2u);
  EXPECT_EQ(read->kinds[0].deprecation_warning, "");
  EXPECT_EQ(read->kinds[1].deprecation_warning, "e.com/v1beta1 Thing is deprecated in v1.30+, unavailable in v1.33+; use e.com/v1 Thing");
  EXPECT_EQ(removed_release_in(read->kinds[1].deprecation_warning), "1.33");
  EXPECT_EQ(removed_release_in("v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"), "");
}

TEST(Lifecycle, AGroupDocumentWithABadReleaseIsRefusedAtItsPlace) {
  constexpr std::string_view kDocument = R"({"group":"e.com","versions":[{"name":"v1"}],"kinds":[
      {"resource":"things","kind":"Thing","lifecycle":{"v1":{"introduced":"soon"}}}]})";
  const auto read = kit::read_group(kDocument, {});
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.status().message().find("kinds[0].lifecycle.v1.introduced must be a release such as 1.36"), std::string::npos)
      << read.status().message();
}

}  // namespace
}  // namespace backplane
