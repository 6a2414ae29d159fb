#include "custom_table.hpp"

#include <gtest/gtest.h>

#include "backplane/meta.hpp"

namespace backplane::apiextensions {
namespace {

const Object& thing() {
  static const Object kThing = json::parse(R"({"metadata":{"name":"a","creationTimestamp":"2026-01-01T00:00:00Z"},
    "spec":{"size":5,"on":true},"status":{"conditions":[{"type":"Ready","status":"False"}]}})")
                                   .as_object();
  return kThing;
}

TEST(CustomTableTest, PrintsWhatTheColumnsAskFor) {
  const ColumnTable table(
      custom_columns(json::parse(R"({"additionalPrinterColumns":[{"name":"Size","type":"integer","jsonPath":".spec.size"},
    {"name":"Ready","type":"string","jsonPath":".status.conditions[?(@.type==\"Ready\")].status","priority":1},
    {"name":"None","type":"string","jsonPath":".spec.none"},{"name":"Text","type":"string","jsonPath":".spec.size"},
    {"name":"Wrong","type":"integer","jsonPath":".spec.on"},{"name":"Age","type":"date","jsonPath":".metadata.creationTimestamp"}]})")
                         .as_object()));
  ASSERT_EQ(table.columns().size(), 7u);
  EXPECT_EQ(table.columns()[1].description, "Custom resource definition column (in JSONPath format): .spec.size");
  EXPECT_EQ(table.columns()[2].priority, 1);
  const std::int64_t now = *parse_rfc3339("2026-01-01T00:00:05Z");
  EXPECT_EQ(to_json(Value(table.cells(thing(), now, {}))), R"(["a",5,"False",null,"5",null,"5s"])");
}

TEST(CustomTableTest, ShowsTheAgeWhenNothingIsAskedFor) {
  const ColumnTable table(custom_columns(Object{}));
  ASSERT_EQ(table.columns().size(), 2u);
  EXPECT_EQ(table.columns()[1].name, "Age");
}

}  // namespace
}  // namespace backplane::apiextensions
