// Go's formatting of values, JSON scanning and indentation.
#include <gtest/gtest.h>

#include "endpoints/go_text.hpp"
#include "endpoints/json_indent.hpp"
#include "endpoints/json_scan.hpp"
#include "endpoints/sent_values.hpp"

namespace backplane::endpoints {
namespace {

TEST(GoText, TreesPrintAsMapsAndLists) {
  EXPECT_EQ(go_value(json::parse(R"({"spec":{"foo":1},"bar":2})")), "map[bar:2 spec:map[foo:1]]");
  EXPECT_EQ(go_value(json::parse(R"({"a":[1,"x",null,true,{}]})")), "map[a:[1 x <nil> true map[]]]");
}

TEST(GoText, UnmarshalErrorsNameKindAndType) {
  EXPECT_EQ(unmarshal_error(json::parse("[]"), "map[string]interface {}"),
            "json: cannot unmarshal array into Go value of type map[string]interface {}");
  EXPECT_EQ(unmarshal_field_error(json::parse("7"), ".kind", "string"),
            "json: cannot unmarshal number into Go struct field .kind of type string");
}

TEST(SentValues, EmptyOnesAreQuotedAsTheyWereSent) {
  FieldErrors errors;
  errors.invalid_raw("spec.template.labels", "null", "does not match");
  errors.add({FieldErrorType::kNotSupported, "spec.capacity", R"(Unsupported value: null: supported values: "storage")"});
  errors.invalid_raw("spec.list[1].of[a.b]", "null", "is immutable");
  errors.invalid_raw("spec.absent", "null", "is immutable");
  errors.invalid_raw("spec.full", "null", "is immutable");
  Status refused = errors.to_status("", "Thing", "x");
  quote_sent_values(refused, R"({"spec":{"template":{"labels":{}},"capacity":{},"list":[0,{"of":{"a.b":[]}}],"full":{"a":1}}})",
                    BodyFormat::kJson, nullptr);
  EXPECT_EQ(refused.message(),
            "Thing \"x\" is invalid: [spec.template.labels: Invalid value: {}: does not match, "
            "spec.capacity: Unsupported value: {}: supported values: \"storage\", spec.list[1].of[a.b]: Invalid value: []: is immutable, "
            "spec.absent: Invalid value: null: is immutable, spec.full: Invalid value: null: is immutable]");
  EXPECT_EQ(refused.details()->causes[0].message, "Invalid value: {}: does not match");
  EXPECT_EQ(refused.details()->causes[3].message, "Invalid value: null: is immutable");
}

TEST(SentValues, StructsAreNotEmptyMaps) {
  const auto core = core_schemas();
  FieldErrors errors;
  errors.invalid_raw("spec", "null", "of a struct");
  errors.invalid_raw("spec.selector", "null", "of a map");
  const auto refusal = [&](std::string_view body) {
    Status refused = errors.to_status("", "Thing", "x");
    quote_sent_values(refused, body, BodyFormat::kJson, core->find("io.k8s.api.core.v1.ReplicationController"));
    return refused.details()->causes[0].message + ", " + refused.details()->causes[1].message;
  };
  EXPECT_EQ(refusal(R"({"spec":{}})"), "Invalid value: null: of a struct, Invalid value: null: of a map");
  EXPECT_EQ(refusal(R"({"spec":{"selector":{}}})"), "Invalid value: null: of a struct, Invalid value: {}: of a map");
}

TEST(GoText, BodiesAreSummedUpAsTextOrHex) {
  EXPECT_EQ(body_summary(""), "<empty>");
  EXPECT_EQ(body_summary("{bad"), "{bad");
  EXPECT_EQ(body_summary("{" + std::string(40, 'x')), "{" + std::string(29, 'x') + " ...");
  EXPECT_EQ(body_summary(std::string_view("k8s\0bad", 7)), "6b387300626164");
}

TEST(JsonScan, FindsMembersOfTheOutermostObjectOnly) {
  constexpr std::string_view kJson = R"({"a":"x,\"}","b":{"c":1,"d":[{"c":2}]},"c":-3,"e":null})";
  EXPECT_EQ(raw_member(kJson, "a"), R"("x,\"}")");
  EXPECT_EQ(raw_member(kJson, "b"), R"({"c":1,"d":[{"c":2}]})");
  EXPECT_EQ(raw_member(kJson, "c"), "-3");
  EXPECT_EQ(raw_member(kJson, "e"), "null");
  EXPECT_EQ(raw_member(kJson, "none"), "");
  EXPECT_EQ(raw_member("{}", "a"), "");
  EXPECT_EQ(raw_member("", "a"), "");
  EXPECT_EQ(raw_text(kJson, "a"), "") << "escapes are not undone here";
  EXPECT_EQ(raw_text(R"({"k":"v"})", "k"), "v");
}

TEST(JsonIndent, IsTheSameWhereverThePiecesBreak) {
  const std::string json = R"({"a":[],"b":{},"c":[1,{"d":"x,{\"y\\"}],"e":null})";
  const std::string expected =
      "{\n  \"a\": [],\n  \"b\": {},\n  \"c\": [\n    1,\n    {\n      \"d\": \"x,{\\\"y\\\\\"\n    }\n  ],\n  \"e\": null\n}";
  for (std::size_t cut = 0; cut <= json.size(); ++cut) {
    JsonIndenter indenter;
    std::string out;
    indenter.feed(std::string_view(json).substr(0, cut), out);
    indenter.feed(std::string_view(json).substr(cut), out);
    EXPECT_EQ(out, expected) << cut;
  }
}

}  // namespace
}  // namespace backplane::endpoints
