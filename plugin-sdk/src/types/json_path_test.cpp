#include "backplane/types/json_path.hpp"

#include <gtest/gtest.h>

namespace backplane {
namespace {

const Object& thing() {
  static const Object kThing = json::parse(R"({"metadata":{"name":"a","creationTimestamp":"2026-01-01T00:00:00Z","labels":{"x.y":"z"}},
    "spec":{"size":5,"ratio":1.5,"on":true,"list":[10,20,30],"ports":[{"name":"http","port":80},{"name":"dns","port":53}]},
    "status":{"conditions":[{"type":"Ready","status":"False"},{"type":"Done","status":"True"}]}})")
                                   .as_object();
  return kThing;
}

std::string first(const std::string& path) {
  const auto parsed = JsonPath::parse(path);
  if (!parsed) return "bad path";
  const Value* found = parsed->first(thing());
  return found ? to_json(*found) : "nothing";
}

TEST(JsonPathTest, FollowsMembersAndIndexes) {
  EXPECT_EQ(first(".spec.size"), "5");
  EXPECT_EQ(first(".spec.list[1]"), "20");
  EXPECT_EQ(first(".spec.list[-1]"), "30");
  EXPECT_EQ(first(".spec.list[1:3]"), "20");
  EXPECT_EQ(first(".spec.ports[*].name"), R"("http")");
  EXPECT_EQ(first(".metadata.labels['x.y']"), R"("z")");
  EXPECT_EQ(first(".metadata.labels.x\\.y"), R"("z")");
  EXPECT_EQ(first("..port"), "80");
  EXPECT_EQ(first(".none.at.all"), "nothing");
  EXPECT_EQ(first(".spec.list[9]"), "nothing");
}

TEST(JsonPathTest, Filters) {
  EXPECT_EQ(first(R"(.status.conditions[?(@.type=="Ready")].status)"), R"("False")");
  EXPECT_EQ(first(".status.conditions[?(@.type=='Done')].status"), R"("True")");
  EXPECT_EQ(first(".spec.ports[?(@.port < 60)].name"), R"("dns")");
  EXPECT_EQ(first(".spec.ports[?(@.none)].name"), "nothing");
}

TEST(JsonPathTest, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(first("spec"), "bad path");
  EXPECT_EQ(first(".spec["), "bad path");
  EXPECT_EQ(first(".spec[?(1==1)]"), "bad path");
}

// Regression: parsing recursed for each nested filter and overflowed the stack.
TEST(JsonPathTest, FiltersHoldNoFilters) {
  EXPECT_EQ(first(".spec.ports[?(@['port'] == 80)].name"), R"("http")");
  EXPECT_FALSE(JsonPath::parse(".a[?(@[?(@.b)])]"));
  std::string nested = "@";
  for (int i = 0; i < 100000; ++i) nested += "[?(@";
  for (int i = 0; i < 100000; ++i) nested += ")]";
  EXPECT_FALSE(JsonPath::parse(".a[?(" + nested + ")]"));
}

TEST(JsonPathTest, IsOfBoundedSize) {
  std::string longest;
  for (int i = 0; i < 2048; ++i) longest += ".a";
  EXPECT_TRUE(JsonPath::parse(longest));
  EXPECT_FALSE(JsonPath::parse(longest + ".a"));
  EXPECT_TRUE(JsonPath::parse("..a..b"));
  EXPECT_FALSE(JsonPath::parse("..a..b..c")) << "a search in a search in a search";
}

}  // namespace
}  // namespace backplane
