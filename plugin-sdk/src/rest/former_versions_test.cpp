#include "backplane/rest/former_versions.hpp"

#include <gtest/gtest.h>

#include "backplane/core/meta.hpp"

namespace backplane {
namespace {

constexpr std::string_view kDocument =
    R"({"stored": "policy/v1", "kinds": {"Eviction": ["policy/v1beta1", "old.example.com/v1"]}, "definitions": {
  "com.example.old.v1.Eviction": {"type": "object", "x-kubernetes-group-version-kind": [{"group": "old.example.com", "kind": "Eviction", "version": "v1"}],
    "properties": {"name": {"type": "string", "x-backplane-proto": 1}}}}})";
const GroupVersionKind kNow{"policy", "v1", "Eviction"};
const GroupVersionKind kBefore{"policy", "v1beta1", "Eviction"};
const GroupVersionKind kOther{"old.example.com", "v1", "Eviction"};

Status rename(Object& object) {
  object["renamed"] = true;
  return {};
}

TEST(FormerVersions, AreReadAsTheStoredOneUnlessTheyHaveATypeOfTheirOwn) {
  Scheme scheme;
  const Status added = add_former_versions(scheme, "test", kDocument, core_schemas(), {{{"Eviction", "old.example.com/v1"}, rename}});
  ASSERT_TRUE(added.ok()) << added.message();
  EXPECT_EQ(scheme.type_of(kBefore), core_schemas()->find(kNow));
  ASSERT_NE(scheme.type_of(kOther), nullptr);
  EXPECT_NE(scheme.type_of(kOther), scheme.type_of(kBefore));
  Object object;
  ASSERT_TRUE(scheme.convert(kBefore, kNow, object).ok());
  EXPECT_EQ(get_string(object, "apiVersion"), "policy/v1");
  EXPECT_FALSE(object.contains("renamed"));
  ASSERT_TRUE(scheme.convert(kOther, kNow, object).ok());
  EXPECT_TRUE(object.contains("renamed"));
}

TEST(FormerVersions, AConversionFromAVersionThatIsNotListedIsRefused) {
  Scheme scheme;
  const Status added = add_former_versions(scheme, "test", kDocument, core_schemas(), {{{"Eviction", "policy/v1alpha1"}, rename}});
  EXPECT_NE(added.message().find("policy/v1alpha1, Kind=Eviction, which is not listed"), std::string::npos) << added.message();
  EXPECT_FALSE(add_former_versions(scheme, "test", "{", core_schemas()).ok());
}

}  // namespace
}  // namespace backplane
