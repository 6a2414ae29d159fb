#include "column_path.hpp"

#include <gtest/gtest.h>

namespace backplane::apiextensions {
namespace {

const Object& thing() {
  static const Object kThing = json::parse(R"({"metadata":{"name":"a","labels":{"x.y":"z","x":{"y":"nested"}}},"text":"word","none":null,
    "spec":{"size":5,"ratio":1.5,"on":true,"list":[10,20,30],"empty":[],"lists":[[1,2],[],[3]],
            "ports":[{"name":"http","port":80},{"name":"dns","port":53,"udp":true}]},
    "status":{"conditions":[{"type":"Ready","status":"False"},{"type":"Done","status":"True"}]}})")
                                   .as_object();
  return kThing;
}

std::string first(const std::string& path) {
  const auto parsed = ColumnPath::parse(path);
  if (!parsed) return "bad path";
  const Value* found = parsed->first(thing());
  return found ? to_json(*found) : "nothing";
}

TEST(ColumnPathTest, FollowsMembers) {
  EXPECT_EQ(first(".spec.size"), "5");
  EXPECT_EQ(first(".none"), "null");
  EXPECT_EQ(first(".none.a"), "nothing");
  EXPECT_EQ(first(".metadata.labels.x\\.y"), R"("z")");
  EXPECT_EQ(first(".metadata.labels['x\\.y']"), R"("z")");
  EXPECT_EQ(first(".metadata.labels['x.y']"), R"("nested")") << "a path stands in the quotes";
  EXPECT_EQ(first(".metadata$.name"), R"("a")");
  EXPECT_EQ(first("."), "nothing");
  EXPECT_EQ(first(".spec.[0]"), "nothing") << "a member without a name";
  EXPECT_EQ(first(".spec.list.size"), "nothing");
  EXPECT_EQ(first(".text.*"), "nothing");
}

TEST(ColumnPathTest, FollowsIndexesAndSlices) {
  EXPECT_EQ(first(".spec.list[1]"), "20");
  EXPECT_EQ(first(".spec.list[-1]"), "30");
  EXPECT_EQ(first(".spec.list[-1:]"), "30");
  EXPECT_EQ(first(".spec.list[1:3:2]"), "20");
  EXPECT_EQ(first(".spec.list[2,0]"), "30");
  EXPECT_EQ(first(".spec.list[2, 9]"), "nothing");
  EXPECT_EQ(first(".spec['size','ratio']"), "5");
  EXPECT_EQ(first(".spec.ports[*].name"), R"("http")");
  EXPECT_EQ(first(".spec.lists[*][0]"), "nothing") << "the second list is too short";
  EXPECT_EQ(first(".spec.lists[*][0:1]"), "nothing");
  EXPECT_EQ(first(".spec.list[9]"), "nothing");
  EXPECT_EQ(first(".spec.list[2:1]"), "nothing");
  EXPECT_EQ(first(".spec.list[0:3:0]"), "nothing");
  EXPECT_EQ(first(".spec.empty[*]"), "nothing");
  EXPECT_EQ(first(".spec.size[0]"), "nothing");
}

TEST(ColumnPathTest, LooksEverywhere) {
  EXPECT_EQ(first("..port"), "80");
  EXPECT_EQ(first(".spec..port"), "80");
  EXPECT_EQ(first(".spec.ports..name"), R"("http")");
  EXPECT_EQ(first(".status.*"), R"([{"type":"Ready","status":"False"},{"type":"Done","status":"True"}])");
}

TEST(ColumnPathTest, Filters) {
  EXPECT_EQ(first(R"(.status.conditions[?(@.type=="Ready")].status)"), R"("False")");
  EXPECT_EQ(first(".status.conditions[?(@.type=='Done')].status"), R"("True")");
  EXPECT_EQ(first(".status.conditions[?( @.type != 'Ready' )].status"), R"("True")");
  EXPECT_EQ(first(".spec.ports[?(@.port < 60)].name"), R"("dns")");
  EXPECT_EQ(first(".spec.ports[?(@.port < 60.0)].name"), "nothing") << "a whole number and another one";
  EXPECT_EQ(first(".spec.ports[?(@.port == '80')].name"), "nothing");
  EXPECT_EQ(first(".spec.ports[?(@.udp)].name"), R"("dns")");
  EXPECT_EQ(first(".spec.ports[?(@.udp==true)].name"), R"("dns")");
  EXPECT_EQ(first(".spec.ports[?(@.udp>false)].name"), "nothing");
  EXPECT_EQ(first(".spec.ports[?(@.name==@.name)].port"), "80");
  EXPECT_EQ(first(".spec.ports[?(@.none)].name"), "nothing");
  EXPECT_EQ(first(".spec.ports[?(@.name==http)].port"), "nothing") << "a word that means nothing";
  EXPECT_EQ(first(".spec.size[?(@.a)]"), "nothing");
}

TEST(ColumnPathTest, RefusesWhatIsNoPath) {
  for (const char* path : {".spec[", ".spec[a]", R"(.spec["size"])", ".spec[0", ".spec[1:2:3:4]", ".a[]b]", ".a.b{", ".a}", "....a", ".a,b",
                           ".a[?(@.b]", ".a[?(@.b)", ".a 'b", ".a 1.2.3", ".a\tb", ".a #"}) {
    EXPECT_EQ(first(path), "bad path") << path;
  }
  EXPECT_EQ(first(".a[]"), "nothing");
  EXPECT_EQ(first(".spec 'said'"), R"("said")");
  EXPECT_EQ(first(".spec 7"), "7");
  EXPECT_EQ(first(".spec word"), "nothing");
}

TEST(ColumnPathTest, LengthAndSearchStepsAreLimited) {
  std::string longest;
  for (int i = 0; i < 2048; ++i) longest += ".a";
  EXPECT_TRUE(ColumnPath::parse(longest));
  EXPECT_FALSE(ColumnPath::parse(longest + ".a"));
  std::string searches;
  for (int i = 0; i < 600; ++i) searches += "..spec";
  EXPECT_EQ(first(searches), "nothing");
  Value deep(1);
  for (int i = 0; i < 400; ++i) deep = Object{{"a", std::move(deep)}, {"b", Array{1, 2, 3}}};
  const auto path = ColumnPath::parse("..a..a..a..a..a..a[0]");
  ASSERT_TRUE(path);
  EXPECT_EQ(path->first(deep.get_object()), nullptr);
}

// Regression: a thousand names were searched in each of ten thousand values, for every row, which took tenths of a second of the loop's
// time.
TEST(ColumnPathTest, NamesThatMatchNothingCountTowardsTheStepLimit) {
  Array texts(10'000);
  for (Value& each : texts) each = "x";
  const Object root{{"list", std::move(texts)}, {"there", "found"}};
  std::string names = "..['there'";
  for (int i = 0; i < 500; ++i) names += ",'no'";
  const auto few = ColumnPath::parse("..['there','no']"), many = ColumnPath::parse(names + "]");
  ASSERT_TRUE(few && many);
  ASSERT_NE(few->first(root), nullptr);
  EXPECT_EQ(*few->first(root), "found");
  EXPECT_EQ(many->first(root), nullptr);
}

}  // namespace
}  // namespace backplane::apiextensions
