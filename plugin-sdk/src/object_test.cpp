#include "backplane/object.hpp"

#include <gtest/gtest.h>

namespace backplane {
namespace {

TEST(SpliceResourceVersion, GoesAfterUid) {
  EXPECT_EQ(splice_resource_version(R"({"kind":"A","apiVersion":"v1","metadata":{"name":"a","uid":"u","labels":{"uid":"x"}},"spec":{}})", 7,
                                    false),
            R"({"kind":"A","apiVersion":"v1","metadata":{"name":"a","uid":"u","resourceVersion":"7","labels":{"uid":"x"}},"spec":{}})");
}

TEST(SpliceResourceVersion, EndsMetadataWhenNothingFollows) {
  EXPECT_EQ(splice_resource_version(R"({"kind":"A","apiVersion":"v1","metadata":{"name":"a"}})", 7, false),
            R"({"kind":"A","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"7"}})");
  EXPECT_EQ(splice_resource_version(R"({"kind":"A","apiVersion":"v1","metadata":{}})", 7, false),
            R"({"kind":"A","apiVersion":"v1","metadata":{"resourceVersion":"7"}})");
}

TEST(SpliceResourceVersion, LeadsWhenEverythingFollows) {
  EXPECT_EQ(splice_resource_version(R"({"kind":"A","apiVersion":"v1","metadata":{"generation":1,"labels":{}}})", 7, false),
            R"({"kind":"A","apiVersion":"v1","metadata":{"resourceVersion":"7","generation":1,"labels":{}}})");
}

TEST(SpliceResourceVersion, FollowsKeyOrderInSortedObjects) {
  EXPECT_EQ(
      splice_resource_version(R"({"apiVersion":"e/v1","kind":"A","metadata":{"generation":1,"name":"a","uid":"u"},"spec":{"metadata":{}}})",
                              7, true),
      R"({"apiVersion":"e/v1","kind":"A","metadata":{"generation":1,"name":"a","resourceVersion":"7","uid":"u"},"spec":{"metadata":{}}})");
}

TEST(SpliceResourceVersion, ReplacesAPresentOne) {
  EXPECT_EQ(
      splice_resource_version(R"({"kind":"A","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"3","generation":1}})", 70, false),
      R"({"kind":"A","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"70","generation":1}})");
}

TEST(SpliceResourceVersion, PassesOverEscapesAndBrackets) {
  EXPECT_EQ(splice_resource_version(R"({"a":"}\"{","b":[1,{"metadata":{"x":1}}],"kind":"A","metadata":{"name":"a\\"}})", 7, true),
            R"({"a":"}\"{","b":[1,{"metadata":{"x":1}}],"kind":"A","metadata":{"name":"a\\","resourceVersion":"7"}})");
}

TEST(SpliceResourceVersion, MakesMissingMetadata) {
  EXPECT_EQ(splice_resource_version(R"({"kind":"A","apiVersion":"v1","spec":{}})", 7, false),
            R"({"kind":"A","apiVersion":"v1","metadata":{"resourceVersion":"7"},"spec":{}})");
}

TEST(MakeObject, ReadsWhatReadersNeed) {
  const Value tree = json::parse(
      R"({"kind":"A","apiVersion":"v1","metadata":{"name":"a","namespace":"n","resourceVersion":"12","labels":{"b":"2","a":"1"}}})");
  const ObjectRef object = make_object(tree.get_object());
  EXPECT_EQ(object->name, "a");
  EXPECT_EQ(object->ns, "n");
  EXPECT_EQ(object->revision, 12);
  EXPECT_EQ(object->labels, (Labels{{"a", "1"}, {"b", "2"}}));
  std::string item;
  object->append_item(item);
  EXPECT_TRUE(item.starts_with(R"({"metadata":{"name":"a")")) << item;
  EXPECT_EQ(to_json(decode(*object, {})), to_json(tree));
}

TEST(MakeObject, ListItemsOfSortedObjectsAreWhole) {
  const Value tree = json::parse(R"({"apiVersion":"e/v1","kind":"A","metadata":{"name":"a"}})");
  EXPECT_EQ(make_object(tree.get_object())->item_offset, 0u);
}

}  // namespace
}  // namespace backplane
