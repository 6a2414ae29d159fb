#include "naming.hpp"

#include <gtest/gtest.h>

namespace backplane::apiextensions {
namespace {

Object definition(const std::string& names, const std::string& accepted = "{}") {
  return json::parse(R"({"spec":{"group":"g.io","names":)" + names + R"(},"status":{"acceptedNames":)" + accepted + "}}").as_object();
}
constexpr const char* kFoo =
    R"({"plural":"foos","singular":"foo","shortNames":["f"],"kind":"Foo","listKind":"FooList","categories":["all"]})";

TEST(NamingTest, FreeNamesAreAccepted) {
  const Object crd = definition(kFoo);
  EXPECT_FALSE(names_are_accepted(crd));
  const NamingResult result = accept_names(crd, {});
  EXPECT_TRUE(result.names_accepted());
  EXPECT_EQ(result.accepted_condition.reason, "NoConflicts");
  EXPECT_EQ(result.accepted_condition.message, "no conflicts found");
  EXPECT_TRUE(names_are_accepted(definition(kFoo, to_json(Value(result.accepted)))));
}

TEST(NamingTest, TakenNamesAreLeftToTheirOwner) {
  TakenNames taken;
  taken.add(given_names(definition("{}", R"({"plural":"others","singular":"foo","kind":"Other","listKind":"OtherList"})")));
  const NamingResult result = accept_names(definition(kFoo), taken);
  EXPECT_FALSE(result.names_accepted());
  EXPECT_EQ(result.accepted_condition.reason, "SingularConflict");
  EXPECT_EQ(result.accepted_condition.message, R"("foo" is already in use)");
  EXPECT_EQ(get_string(result.accepted, "plural"), "foos");
  EXPECT_EQ(get_string(result.accepted, "singular"), "");
  EXPECT_EQ(get_string(result.accepted, "kind"), "Foo");
}

TEST(NamingTest, ShortNamesAreTakenTogetherOrNotAtAll) {
  TakenNames taken;
  taken.add({{"f", "g"}, {}});
  const Object crd = definition(R"({"plural":"foos","singular":"foo","shortNames":["f","g","h"],"kind":"Foo","listKind":"FooList"})");
  const NamingResult result = accept_names(crd, taken);
  EXPECT_EQ(result.accepted_condition.reason, "ShortNamesConflict");
  EXPECT_EQ(result.accepted_condition.message, R"(["f" is already in use, "g" is already in use])");
  EXPECT_EQ(find(result.accepted, "shortNames"), nullptr);
}

TEST(NamingTest, OwnNamesAreNoConflict) {
  TakenNames taken;
  const Object crd = definition(kFoo, kFoo);
  taken.add(given_names(crd));
  EXPECT_TRUE(accept_names(crd, taken).names_accepted());
}

TEST(NamingTest, ANameIsReleasedByTheLastDefinitionThatUsesIt) {
  TakenNames taken;
  const GivenNames twice{{"foos", "foo"}, {"Foo"}};
  taken.add(twice);
  taken.add({{"foo"}, {}});
  taken.remove(twice);
  EXPECT_TRUE(taken.resources().contains("foo"));
  EXPECT_FALSE(taken.resources().contains("foos"));
  taken.remove({{"foo"}, {}});
  EXPECT_TRUE(taken.empty());
}

TEST(VersionOrderTest, IsKubernetesOrder) {
  std::vector<std::string> versions = {"v1alpha1",  "foo1",      "v10",   "v11beta2", "v2",      "v3beta1",
                                       "v12alpha1", "v11alpha2", "foo10", "v1",       "v10beta3"};
  std::sort(versions.begin(), versions.end(), version_precedes);
  EXPECT_EQ(versions, (std::vector<std::string>{"v10", "v2", "v1", "v11beta2", "v10beta3", "v3beta1", "v12alpha1", "v11alpha2", "v1alpha1",
                                                "foo1", "foo10"}));
}

TEST(ConditionTest, TheTransitionTimeMovesOnlyWithTheStatus) {
  Object crd =
      json::parse(R"({"status":{"conditions":[{"type":"Terminating","status":"True","lastTransitionTime":"2020-01-01T00:00:00Z"}]}})")
          .as_object();
  set_condition(crd, {"Terminating", "True", "InstanceDeletionInProgress", "x"});
  EXPECT_EQ(get_string(*find_condition(crd, "Terminating"), "lastTransitionTime"), "2020-01-01T00:00:00Z");
  EXPECT_EQ(get_string(*find_condition(crd, "Terminating"), "reason"), "InstanceDeletionInProgress");
  set_condition(crd, {"Terminating", "False", "InstanceDeletionCompleted", "y"});
  EXPECT_NE(get_string(*find_condition(crd, "Terminating"), "lastTransitionTime"), "2020-01-01T00:00:00Z");
}

}  // namespace
}  // namespace backplane::apiextensions
