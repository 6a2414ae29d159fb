#include "custom_table.hpp"

#include <gtest/gtest.h>

#include "backplane/core/meta.hpp"

namespace backplane::apiextensions {
namespace {

const Object& thing() {
  static const Object kThing = json::parse(R"({"metadata":{"name":"a","creationTimestamp":"2026-01-01T00:00:00Z"},
    "spec":{"size":5,"on":true},"status":{"conditions":[{"type":"Ready","status":"False"}]}})")
                                   .as_object();
  return kThing;
}

TEST(CustomTableTest, PrintsWhatTheColumnsAskFor) {
  const CustomTable table(json::parse(R"({"additionalPrinterColumns":[{"name":"Size","type":"integer","jsonPath":".spec.size"},
    {"name":"Ready","type":"string","jsonPath":".status.conditions[?(@.type==\"Ready\")].status","priority":1},
    {"name":"None","type":"string","jsonPath":".spec.none"},{"name":"Text","type":"string","jsonPath":".spec.size"},
    {"name":"Wrong","type":"integer","jsonPath":".spec.on"},{"name":"Age","type":"date","jsonPath":".metadata.creationTimestamp"}]})")
                              .as_object());
  ASSERT_EQ(table.columns().size(), 7u);
  EXPECT_EQ(table.columns()[1].description, "Custom resource definition column (in JSONPath format): .spec.size");
  EXPECT_EQ(table.columns()[2].priority, 1);
  const std::int64_t now = *parse_rfc3339("2026-01-01T00:00:05Z");
  EXPECT_EQ(to_json(Value(table.cells(thing(), now, {}))), R"(["a",5,"False",null,"5",null,"5s"])");
}

TEST(CustomTableTest, ShowsTheAgeWhenNothingIsAskedFor) {
  const CustomTable table{Object{}};
  ASSERT_EQ(table.columns().size(), 2u);
  EXPECT_EQ(table.columns()[1].name, "Age");
}

// The cell of one column for `value` at its path.
std::string cell(const std::string& type, const std::string& value) {
  const CustomTable table(
      json::parse(R"({"additionalPrinterColumns":[{"name":"A","type":")" + type + R"(","jsonPath":".a"}]})").as_object());
  const std::int64_t now = *parse_rfc3339("2026-01-01T00:00:05Z");
  return to_json(table.cells(json::parse(R"({"metadata":{"name":"x"},"a":)" + value + "}").as_object(), now, {}).at(1));
}

TEST(CustomTableTest, CellsAreFormattedByTheTypeOfTheColumn) {
  EXPECT_EQ(cell("string", "null"), R"("\u003cno value\u003e")");
  EXPECT_EQ(cell("string", "true"), R"("true")");
  EXPECT_EQ(cell("string", "1.5"), R"("1.5")");
  EXPECT_EQ(cell("string", "0.00001"), R"("1e-05")");
  EXPECT_EQ(cell("string", "1234567.5"), R"("1.2345675e+06")");
  EXPECT_EQ(cell("string", "1234567"), R"("1234567")");
  EXPECT_EQ(cell("string", "1e21"), R"("1e+21")");
  EXPECT_EQ(cell("string", R"({"b":["<&>"]})"), R"("{\"b\":[\"\\u003c\\u0026\\u003e\"]}")");
  EXPECT_EQ(cell("integer", "1.9"), "1");
  EXPECT_EQ(cell("integer", "1e30"), "-9223372036854775808");
  EXPECT_EQ(cell("integer", R"("1")"), "null");
  EXPECT_EQ(cell("number", "9007199254740993"), "9007199254740992");
  EXPECT_EQ(cell("number", "true"), "null");
  EXPECT_EQ(cell("boolean", "1"), "null");
  EXPECT_EQ(cell("date", R"("2026-01-01T00:00:00Z")"), R"("5s")");
  EXPECT_EQ(cell("date", R"("")"), R"("\u003cunknown\u003e")");
  EXPECT_EQ(cell("date", R"("soon")"), R"("\u003cinvalid\u003e")");
  EXPECT_EQ(cell("date", "5"), "null");
}

// Regression: such columns had no cells.
TEST(CustomTableTest, ColumnsEndBeforeOneWhosePathCannotBeRead) {
  const CustomTable table(json::parse(R"({"additionalPrinterColumns":[{"name":"A","type":"string","jsonPath":".a"},
    {"name":"B","type":"string","jsonPath":".b["},{"name":"C","type":"string","jsonPath":".c"}]})")
                              .as_object());
  ASSERT_EQ(table.columns().size(), 2u);
  EXPECT_EQ(table.columns()[1].name, "A");
  EXPECT_EQ(to_json(Value(table.cells(thing(), 0, {}))), R"(["a",null])");
}

}  // namespace
}  // namespace backplane::apiextensions
