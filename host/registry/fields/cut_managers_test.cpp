#include "registry/fields/cut_managers.hpp"

#include <gtest/gtest.h>

#include "backplane/types/json_reading.hpp"

namespace backplane::registry {
namespace {

std::string object_with(std::string_view managed) {
  return R"({"kind":"K","metadata":{"name":"n","managedFields":)" + std::string(managed) + R"(},"spec":{"a":"metadata"}})";
}

// The JSON of the tree after restore(); "-" if ManagersCut::of() returns nullopt.
std::string cut_and_restore(std::string_view text) {
  const auto cut = ManagersCut::of(text);
  if (!cut) return "-";
  auto tree = read_json(cut->rest());
  if (!tree || !cut->restore(*tree)) return "-";
  return to_json(*tree);
}

TEST(CutManagersTest, CutManagersAreRestoredUnchanged) {
  for (
      const char* managed :
      {R"([{"manager":"m","fieldsV1":{"f:a":{}}}])",
       R"([{"manager":"m","fieldsV1":{},"subresource":"status"},{"fieldsV1":{"f:a":{".":{},"k:{\"n\":\"c\"}":{"f:x":{}},"v:\"\\\\\"":{}}},"time":null}])"}) {
    const std::string text = object_with(managed);
    EXPECT_EQ(cut_and_restore(text), text);
    const auto cut = ManagersCut::of(text);
    ASSERT_TRUE(cut);
    EXPECT_EQ(cut->rest().find("f:a"), std::string::npos);
  }
}

TEST(CutManagersTest, OtherEncodingsAreNotCut) {
  const char* const others[] = {"[]",
                                "null",
                                "{}",
                                "1",
                                R"([{"manager":"m"}])",
                                R"([{"fieldsV1":null}])",
                                R"([{"fieldsV1":[]}])",
                                R"([ {"fieldsV1":{}}])",
                                R"([{"fieldsV1": {}}])",
                                R"([{"manager": "m","fieldsV1":{}}])",
                                R"([{"fieldsV1":{},"fieldsV1":{}}])",
                                R"([{"fieldsV1":{"f:a":{}}},{}])",
                                R"([{"fieldsV1":{"f:a":{}})"};
  for (const char* managed : others) {
    EXPECT_EQ(cut_and_restore(object_with(managed)), "-") << managed;
  }
  EXPECT_EQ(cut_and_restore(R"({"metadata" :{"managedFields":[{"fieldsV1":{"f:a":{}}}]}})"), "-");
  EXPECT_EQ(cut_and_restore(R"([{"metadata":{"managedFields":[{"fieldsV1":{}}]}}])"), "-");
}

// If a blank precedes a value, MemberScan may interpret the content of a string as structure.
TEST(CutManagersTest, StringsThatContainJsonAreNotCut) {
  const std::string text = R"({"a": "x,",":{":0,"metadata":{"managedFields":[{"fieldsV1":{}}]}})";
  ASSERT_TRUE(read_json(text));
  EXPECT_EQ(cut_and_restore(text), "-");
}

TEST(CutManagersTest, BodiesWithProblemsAreParsedWhole) {
  EXPECT_TRUE(parse_sent(object_with(R"([{"fieldsV1":{"f:a":{}}}])"), {}));
  EXPECT_FALSE(parse_sent(object_with("[]"), {}));
  EXPECT_FALSE(parse_sent(R"({"metadata":{"managedFields":[{"fieldsV1":{}}]},"a":1,"a":2})", {}));
  EXPECT_FALSE(parse_sent(R"({"metadata":{"managedFields":[{"fieldsV1":{}}]},"a":tru})", {}));
}

}  // namespace
}  // namespace backplane::registry
