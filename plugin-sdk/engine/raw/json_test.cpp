#include "backplane/core/json.hpp"

#include <gtest/gtest.h>

namespace backplane {
namespace {

TEST(Json, StringsAreEscapedAsEncodingJsonDoes) {
  std::string out;
  append_json_string(out, "<a>&\"\\\b\f\n\r\t\x01\x7f\xe2\x80\xa8ü\xff");
  EXPECT_EQ(out, "\"\\u003ca\\u003e\\u0026\\\"\\\\\\b\\f\\n\\r\\t\\u0001\x7f\\u2028ü\\ufffd\"");
}

TEST(Json, NumbersArePrintedAsEncodingJsonDoes) {
  EXPECT_EQ(to_json(Value(1.0)), "1");
  EXPECT_EQ(to_json(Value(0.5)), "0.5");
  EXPECT_EQ(to_json(Value(1e21)), "1e+21");
  EXPECT_EQ(to_json(Value(1e20)), "100000000000000000000");
  EXPECT_EQ(to_json(Value(18446744073709551616.0)), "18446744073709552000");
  EXPECT_EQ(to_json(Value(-9223372036854775808.0)), "-9223372036854776000");
  EXPECT_EQ(to_json(Value(9007199254740992.0)), "9007199254740992");
  EXPECT_EQ(to_json(Value(123456789012345678901.0)), "123456789012345680000");
  EXPECT_EQ(to_json(Value(1e-7)), "1e-7");
  EXPECT_EQ(to_json(Value(1.5e-10)), "1.5e-10");
  EXPECT_EQ(to_json(Value(std::int64_t{-5})), "-5");
  EXPECT_EQ(to_json(Value(UINT64_MAX)), "18446744073709551615");
}

TEST(Json, PrettyIsGosIndent) {
  EXPECT_EQ(pretty_json(R"({"a":{},"b":[],"c":[1,{"d":"x,:{}\""}]})"),
            "{\n  \"a\": {},\n  \"b\": [],\n  \"c\": [\n    1,\n    {\n      \"d\": \"x,:{}\\\"\"\n    }\n  ]\n}\n");
}

TEST(Json, PathsWalkObjectsOnly) {
  const Value tree = json::parse(R"({"spec":{"replicas":3,"list":[1],"name":"x"}})");
  const Object& object = tree.get_object();
  EXPECT_EQ(get_int_path(object, "spec.replicas"), 3);
  EXPECT_EQ(get_string_path(object, "spec.name"), "x");
  EXPECT_EQ(find_path(object, "spec.list.0"), nullptr);
  EXPECT_EQ(find_path(object, {"spec", "none"}), nullptr);
  EXPECT_EQ(get_int_path(object, "spec.name"), std::nullopt);
}

TEST(Json, ErasingKeepsTheOrderOfTheOthers) {
  Object object = json::parse(R"({"a":1,"b":2,"c":3})").get_object();
  EXPECT_TRUE(erase_member(object, "a"));
  EXPECT_FALSE(erase_member(object, "a"));
  EXPECT_EQ(to_json(object), R"({"b":2,"c":3})");
}

TEST(Json, EnsureReplacesAValueOfAnotherType) {
  Object object = json::parse(R"({"a":1})").get_object();
  ensure_object(object, "a")["b"] = 2;
  ensure_array(object, "c").emplace_back(3);
  EXPECT_EQ(to_json(object), R"({"a":{"b":2},"c":[3]})");
}

}  // namespace
}  // namespace backplane
