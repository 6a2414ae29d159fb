#include <gtest/gtest.h>

#include <memory>

#include "stable/conversions.hpp"
#include "stable/tables.hpp"

namespace backplane::stable {
namespace {

const bp_json_table& table() { return json_table(); }

class StableJson : public testing::Test {
 protected:
  struct Release {
    void operator()(bp_json* json) const { table().release(json); }
  };
  using Document = std::unique_ptr<bp_json, Release>;
  static Document parse(std::string_view bytes) {
    bp_error error{};
    return Document(table().parse(str(bytes), &error));
  }
  static std::string at(const Document& json, std::string_view path = "") {
    bp_text* found = table().get(json.get(), str(path));
    const std::string bytes(found != nullptr ? found->bytes.view() : "nothing");
    delete found;
    return bytes;
  }
  bp_error error{};
};

TEST_F(StableJson, ReadsByType) {
  const Document json = parse(R"({"a": {"b": [1, "x", true]}, "n": null, "a/b": {"~": 2}})");
  EXPECT_EQ(table().get_int(json.get(), str("/a/b/0"), 7), 1);
  EXPECT_EQ(table().get_int(json.get(), str("/a/b/1"), 7), 7);
  EXPECT_EQ(view(table().get_string(json.get(), str("/a/b/1"))), "x");
  EXPECT_EQ(table().get_string(json.get(), str("/a/b/0")).data, nullptr);
  EXPECT_EQ(table().get_bool(json.get(), str("/a/b/2"), 0), 1);
  EXPECT_EQ(table().get_int(json.get(), str("/a~1b/~0"), 7), 2);
  EXPECT_EQ(table().count(json.get(), str("/a/b")), 3);
  EXPECT_EQ(table().count(json.get(), str("")), 3);
  EXPECT_EQ(table().count(json.get(), str("/n")), -1);
  EXPECT_EQ(table().has(json.get(), str("/n")), 1);
  EXPECT_EQ(table().has(json.get(), str("/m")), 0);
  EXPECT_EQ(table().has(json.get(), str("no pointer")), 0);
}

TEST_F(StableJson, SetsAndMakesObjectsOnTheWay) {
  const Document json = parse("{}");
  EXPECT_EQ(table().set_int(json.get(), str("/a/b~1c/d"), 5, &error), 0);
  EXPECT_EQ(table().set_json(json.get(), str("/l"), str("[1]"), &error), 0);
  EXPECT_EQ(table().set_string(json.get(), str("/l/-"), str("x"), &error), 0);
  EXPECT_EQ(table().set_string(json.get(), str("/l/0"), str("y"), &error), 0);
  EXPECT_EQ(at(json), R"({"a":{"b/c":{"d":5}},"l":["y","x"]})");
  EXPECT_EQ(table().set_json(json.get(), str(""), str("[]"), &error), 0);
  EXPECT_EQ(at(json), "[]");
}

TEST_F(StableJson, RefusesWhatCannotBe) {
  const Document json = parse(R"({"n": 1, "l": [1]})");
  for (const char* path : {"/n/x", "/l/1", "/l/x", "x"}) {
    error = {};
    EXPECT_EQ(table().set_int(json.get(), str(path), 5, &error), -1) << path;
    EXPECT_STREQ(error.reason, "BadRequest") << path;
  }
  EXPECT_EQ(table().set_json(json.get(), str("/n"), str("{"), &error), -1);
  EXPECT_EQ(table().parse(str("{"), &error), nullptr);
  EXPECT_EQ(at(json), R"({"n":1,"l":[1]})");
}

TEST_F(StableJson, RemovesMembersAndItems) {
  const Document json = parse(R"({"a": 1, "b~": 2, "l": [1, 2, 3]})");
  for (const char* path : {"/a", "/b~0", "/l/1", "/l/9", "/none/x", "", "x"}) table().remove(json.get(), str(path));
  EXPECT_EQ(at(json), R"({"l":[1,3]})");
  EXPECT_EQ(at(json, "/a"), "nothing");
  table().release(nullptr);
}

}  // namespace
}  // namespace backplane::stable
