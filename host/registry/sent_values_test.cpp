#include "registry/sent_values.hpp"

#include <gtest/gtest.h>

namespace backplane::registry {
namespace {

Object parsed(std::string_view text) { return json::parse(text).as_object(); }

// Regression: a decoded object has no empty lists, so an error that prints a struct showed null for them.
TEST(SentValues, EmptyListsAndMapsAreRestoredIfMembersAreMissing) {
  Object object = parsed(R"({"spec":{"items":[{"name":"a"},{"name":"b"}],"kept":[1]},"status":null})");
  const Object sent =
      parsed(R"({"spec":{"args":[],"items":[{"name":"a","env":[]},{"name":"b","labels":{}}],"kept":[],"set":1},"status":{}})");
  EXPECT_TRUE(restore_empty_values(sent, object, nullptr));
  EXPECT_EQ(Value(object),
            Value(parsed(R"({"spec":{"args":[],"items":[{"name":"a","env":[]},{"name":"b","labels":{}}],"kept":[1]},"status":{}})")));
}

TEST(SentValues, EmptyValuesInListsOfAnotherLengthAreNotRestored) {
  Object object = parsed(R"({"items":[{"name":"a"}]})");
  EXPECT_FALSE(restore_empty_values(parsed(R"({"items":[{"name":"a","env":[]},{"name":"b"}]})"), object, nullptr));
  EXPECT_EQ(Value(object), Value(parsed(R"({"items":[{"name":"a"}]})")));
}

TEST(SentValues, WithoutEmptyValuesNothingChanges) {
  Object object = parsed(R"({"a":1})");
  EXPECT_FALSE(restore_empty_values(parsed(R"({"a":2,"b":"x","c":null})"), object, nullptr));
}

// Regression: errors quoted "matchExpressions": [] of label selectors, which upstream prints as decoded JSON.
TEST(SentValues, TypesThatArePrintedAsTheirOwnJsonStayAsTheyAre) {
  const Schema* pod = core_schemas()->find(GroupVersionKind{"", "v1", "Pod"});
  ASSERT_NE(pod, nullptr);
  const Object sent = parsed(
      R"({"metadata":{"labels":{}},"spec":{"containers":[{"name":"c","args":[]}],"topologySpreadConstraints":[{"labelSelector":{"matchLabels":{}}}]}})");
  Object object = parsed(R"({"metadata":{},"spec":{"containers":[{"name":"c"}],"topologySpreadConstraints":[{"labelSelector":{}}]}})");
  EXPECT_TRUE(restore_empty_values(sent, object, pod));
  EXPECT_EQ(Value(object),
            Value(parsed(
                R"({"metadata":{},"spec":{"containers":[{"name":"c","args":[]}],"topologySpreadConstraints":[{"labelSelector":{}}]}})")));
}

}  // namespace
}  // namespace backplane::registry
