// Rows of warnings: their paths, messages and conditions.
#include "backplane/rest/warnings.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace backplane {
namespace {

using Texts = std::vector<std::string>;

Object parse(std::string_view text) { return json::parse(json::string_view(text.data(), text.size())).get_object(); }

Texts warnings_for(const WarningRow& row, std::string_view object, const Object* old = nullptr) {
  return warnings_of({row}, parse(object), old);
}

TEST(Warnings, LookAtEveryItemAndEachAlternative) {
  const WarningRow row{.places = FieldPlaces("sets[*].a|b[*].ip"), .text = "old"};
  EXPECT_EQ(warnings_for(row, R"({"sets":[{"b":[{"ip":"1"}],"a":[{"ip":"2"},{}]},{"a":[{"ip":null}]},{"a":[{"ip":"3"}]}]})"),
            (Texts{"sets[0].a[0].ip: old", "sets[0].b[0].ip: old", "sets[2].a[0].ip: old"}));
  EXPECT_EQ(warnings_for(row, R"({"sets":{"a":1}})"), Texts{});
}

TEST(Warnings, KeysAreWrittenInBrackets) {
  const WarningRow row{.places = FieldPlaces("meta.notes[a.b/c]"), .text = "old"};
  EXPECT_EQ(warnings_for(row, R"({"meta":{"notes":{"a.b/c":""}}})"), Texts{"meta.notes[a.b/c]: old"});
}

TEST(Warnings, EmptyListsAreNotThere) {
  const WarningRow row{.places = FieldPlaces("list"), .warning = "a list"};
  EXPECT_EQ(warnings_for(row, R"({"list":[]})"), Texts{});
  EXPECT_EQ(warnings_for(row, R"({"list":[1]})"), Texts{"a list"});
}

TEST(Warnings, ConditionsLookAtOtherPlaces) {
  WarningRow row{.places = FieldPlaces("a"), .warning = "w"};
  row.when = {{{FieldPlaces("type"), {"X", "Y"}}, {FieldPlaces("on"), {true}}}};
  EXPECT_EQ(warnings_for(row, R"({"a":1,"type":"Y","on":"1"})"), Texts{"w"});
  EXPECT_EQ(warnings_for(row, R"({"a":1,"type":"Y","on":""})"), Texts{});
  EXPECT_EQ(warnings_for(row, R"({"a":1,"type":"Z","on":"1"})"), Texts{});
  row.unless = {{{FieldPlaces("b"), {1}}}, {{FieldPlaces("c"), {false}}}};
  EXPECT_EQ(warnings_for(row, R"({"a":1,"type":"Y","on":"1","c":1})"), Texts{"w"});
  EXPECT_EQ(warnings_for(row, R"({"a":1,"type":"Y","on":"1","c":1,"b":1})"), Texts{});
  EXPECT_EQ(warnings_for(row, R"({"a":1,"type":"Y","on":"1"})"), Texts{});
}

TEST(Warnings, SomeAreOfNewObjectsOrNewValues) {
  const Object old = parse(R"({"a":1})"), other = parse("{}");
  WarningRow row{.places = FieldPlaces("a"), .warning = "w"};
  EXPECT_EQ(warnings_for(row, R"({"a":2})", &old), Texts{"w"});
  row.when_new = true;
  EXPECT_EQ(warnings_for(row, R"({"a":2})", &old), Texts{});
  EXPECT_EQ(warnings_for(row, R"({"a":2})", &other), Texts{"w"});
  row.on_create = true;
  EXPECT_EQ(warnings_for(row, R"({"a":2})", &other), Texts{});
  EXPECT_EQ(warnings_for(row, R"({"a":2})"), Texts{"w"});
}

TEST(Warnings, PathsThatCannotBeReadAreRefused) {
  for (const char* text : {"", "a[b", "a[]", "a|", "a..b"}) EXPECT_THROW(FieldPlaces{text}, std::invalid_argument) << text;
}

}  // namespace
}  // namespace backplane
