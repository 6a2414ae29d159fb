#include "backplane/types/json_scan.hpp"

#include <gtest/gtest.h>

#include "backplane/types/json_reading.hpp"

namespace backplane {
namespace {

std::string members(std::string_view json, std::vector<std::string_view> paths) { return json_members(json, paths); }

constexpr std::string_view kObject =
    R"({"kind":"K","metadata":{"name":"n","managedFields":[{"fieldsV1":{"f:spec":{}}}],"labels":{"a":"}"}},"spec":{"x":{"y":[1,{"z":2}]},"w":"\"q"}})";

TEST(JsonMembersTest, KeepsWhatIsAtThePaths) {
  EXPECT_EQ(members(kObject, {"spec.x.y"}), R"({"spec":{"x":{"y":[1,{"z":2}]}}})");
  EXPECT_EQ(members(kObject, {"metadata.labels", "spec.w", "kind"}), R"({"kind":"K","metadata":{"labels":{"a":"}"}},"spec":{"w":"\"q"}})");
  EXPECT_EQ(members(kObject, {"metadata.name", "spec"}), R"({"metadata":{"name":"n"},"spec":{"x":{"y":[1,{"z":2}]},"w":"\"q"}})");
}

TEST(JsonMembersTest, LeavesOutWhatIsAbsent) {
  EXPECT_EQ(members(kObject, {"status", "metadata.uid"}), R"({"metadata":{}})");
  EXPECT_EQ(members(kObject, {"kind.name", "spec.w.v", "spe", "specs"}), R"({"kind":"K","spec":{"w":"\"q"}})");
  EXPECT_EQ(members("{}", {"a"}), "{}");
  EXPECT_EQ(members("[1]", {"a"}), "{}");
}

TEST(JsonMembersTest, AnEntryThatIsNoObjectIsUnreadable) {
  const std::string_view paths[] = {"spec.x"};
  for (const char* text : {"", "[]", "1", R"({"spec":)", R"({"spec":{"x":tru})", R"({"spec":{"x":tru}})"}) {
    ObjectEntry entry;
    entry.set_json(SharedBytes(std::string(text)));
    EXPECT_THROW(decode_members(entry, paths, {}), UnreadableObject) << text;
  }
  ObjectEntry entry;
  entry.set_json(SharedBytes(std::string(kObject)));
  EXPECT_EQ(to_json(decode_members(entry, paths, {})), R"({"spec":{"x":{"y":[1,{"z":2}]}}})");
}

}  // namespace
}  // namespace backplane
