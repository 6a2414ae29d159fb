#include "engine/field_set.hpp"

#include <gtest/gtest.h>

namespace backplane {
namespace {

FieldSet set_of(std::string_view text) {
  auto set = FieldSet::decode(text);
  EXPECT_TRUE(set.ok()) << text;
  return set.ok() ? *set : FieldSet();
}

std::string text_of(std::string_view wire) {
  const auto element = PathElement::parse(wire);
  EXPECT_TRUE(element.ok() && *element) << wire;
  std::string out;
  if (element.ok() && *element) (*element)->append_text(out);
  return out;
}

TEST(PathElement, IsPrintedAsConflictsPrintIt) {
  EXPECT_EQ(text_of("f:spec"), ".spec");
  EXPECT_EQ(text_of(R"(k:{"name":"c"})"), R"([name="c"])");
  EXPECT_EQ(text_of(R"(k:{"port":80,"protocol":"TCP"})"), R"([port=80,protocol="TCP"])");
  EXPECT_EQ(text_of(R"(k:{"b":true,"a":null,"l":[1,"x"],"m":{"x":1}})"), R"([a=null,b=true,l=[1,"x"],m=x=1])");
  EXPECT_EQ(text_of(R"(v:"x")"), R"([="x"])");
  EXPECT_EQ(text_of("v:65535"), "[=65535]");
  EXPECT_EQ(text_of("v:1000000"), "[=1e+06]");
  EXPECT_EQ(text_of("v:123456789"), "[=1.23456789e+08]");
  EXPECT_EQ(text_of("v:-2.5"), "[=-2.5]");
  EXPECT_EQ(text_of("v:0.00001"), "[=1e-05]");
  EXPECT_EQ(text_of("i:7"), "[7]");
}

TEST(PathElement, IsWrittenAsItWasRead) {
  for (const std::string_view wire :
       {"f:", "f:a.b/c", R"(k:{"name":"c"})", R"(k:{"port":80,"protocol":"TCP"})", R"(v:"x\"y\\z")", "v:-1", "v:1.5", "v:true", "v:null",
        R"(v:[1,{"a":"b"}])", "i:-3", "i:12", "v:9007199254740993", "v:9223372036854775807", "v:-9223372036854775808", R"(k:{"":""})"}) {
    const auto element = PathElement::parse(wire);
    ASSERT_TRUE(element.ok() && *element) << wire;
    std::string out;
    (*element)->append_wire(out);
    EXPECT_EQ(out, wire);
  }
}

TEST(PathElement, KindsThatAreNotKnownArePassedOverAndNonsenseIsRefused) {
  const auto unknown = PathElement::parse("x:1");
  ASSERT_TRUE(unknown.ok());
  EXPECT_FALSE(unknown->has_value());
  for (const std::string_view wire : {"", "f", "fx", "k:", "k:[1]", "k:{", "v:", "v:{", "i:", "i:x", "i:1x", R"(k:{"a":1}x)", "v:1.51e999",
                                      R"(k:{"a":-1e400})", R"(v:{"a":[1e309]})"})
    EXPECT_FALSE(PathElement::parse(wire).ok()) << wire;
}

TEST(PathElement, OrderIsUpstreams) {
  const char* const sorted[] = {"f:",
                                "f:a",
                                "f:b",
                                R"(k:{"a":1})",
                                R"(k:{"a":1,"b":1})",
                                R"(k:{"a":2})",
                                R"(k:{"a":10})",
                                R"(k:{"a":"1"})",
                                R"(k:{"a":"1!"})",
                                R"(k:{"b":1})",
                                "v:-10",
                                "v:-9.5",
                                "v:0",
                                "v:1",
                                "v:1.5",
                                "v:2",
                                R"(v:"")",
                                R"(v:"A")",
                                R"(v:"a")",
                                R"(v:"a\u0000")",
                                R"(v:"aa")",
                                "v:false",
                                "v:true",
                                "v:[1]",
                                R"(v:{"a":1})",
                                "v:null",
                                "i:-1",
                                "i:0",
                                "i:10"};
  for (std::size_t i = 1; i < std::size(sorted); ++i) {
    EXPECT_TRUE(**PathElement::parse(sorted[i - 1]) < **PathElement::parse(sorted[i])) << sorted[i - 1] << " and " << sorted[i];
  }
  EXPECT_EQ(**PathElement::parse("v:1"), **PathElement::parse("v:1.0"));
}

TEST(FieldSet, IsWrittenAsUpstreamWritesIt) {
  const char* const texts[] = {
      "{}", R"({"f:a":{}})", R"({"f:a":{".":{},"f:b":{}}})",
      R"({"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:image":{},"f:ports":{".":{},"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{}}}}}},"f:status":{"f:l":{"v:\"x\"":{},"v:\"y\"":{},"i:0":{}}}})"};
  for (const char* const text : texts) EXPECT_EQ(set_of(text).encode(), text);
  EXPECT_EQ(set_of(R"({"f:b":{},"f:a":{"f:y":{},"f:x":{},".":{}}})").encode(), R"({"f:a":{".":{},"f:x":{},"f:y":{}},"f:b":{}})");
  EXPECT_EQ(set_of(R"( { "f:a" : { "x:later" : { "f:b" : {} } } , "x:y":[1,"]"], "f:c": null } )").encode(), R"({"f:a":{},"f:c":{}})");
  EXPECT_EQ(set_of(R"({"f:\u00e9\ta":{}})").encode(), "{\"f:\u00e9\\ta\":{}}");
}

TEST(FieldSet, TreesAreReadAndWrittenLikeText) {
  const std::string_view text = R"({"f:a":{".":{},"f:x":{},"k:{\"n\":1}":{"f:v":{}}},"f:b":{}})";
  const Value tree = json::parse(text);
  const auto set = FieldSet::decode(tree);
  ASSERT_TRUE(set.ok());
  EXPECT_EQ(set->encode(), text);
  EXPECT_EQ(to_json(set->tree({})), text);
  EXPECT_EQ(to_json(FieldSet().tree({})), "{}");
  EXPECT_TRUE(FieldSet::decode(Value()).ok());
  EXPECT_EQ(FieldSet::decode(json::parse(R"({"f:a":null,"f:b":{"x:1":3}})"))->encode(), R"({"f:a":{},"f:b":{}})");
  for (const char* const wrong : {"1", "[]", R"({"f:a":1})", R"({"a":{}})"})
    EXPECT_FALSE(FieldSet::decode(json::parse(wrong)).ok()) << wrong;
  EXPECT_TRUE(meets(tree, FieldSet{fields_path({"a", "x"})}));
  EXPECT_FALSE(meets(tree, FieldSet{fields_path({"a", "y"})}));
}

TEST(FieldSet, WhatIsMalformedTooDeepOrTooMuchIsRefused) {
  for (const std::string_view text : {"", "1", "[]", "{", R"({"f:a"})", R"({"f:a":1})", R"({"f:a":{}}x)", R"({"f:a":{},})", R"({"a":{}})",
                                      R"({"f:a":{}"f:b":{}})", R"({"f:a":"x"})", R"({"x:a":{)", "{\"f:a\nb\":{}}"})
    EXPECT_FALSE(FieldSet::decode(text).ok()) << text;
  std::string deep;
  for (std::size_t i = 0; i <= FieldSet::kMaxDepth + 1; ++i) deep += R"({"f:a":)";
  EXPECT_FALSE(FieldSet::decode(deep + "{}").ok());
  std::string many = "{";
  for (std::size_t i = 0; i <= FieldSet::kMaxElements; ++i) many += "\"f:" + std::to_string(1000000 + i) + "\":{},";
  many += R"("f:x":{}})";
  EXPECT_FALSE(FieldSet::decode(many).ok());
}

TEST(FieldSet, PathsAreFoundAndListedMembersFirst) {
  const FieldSet set = set_of(R"({"f:a":{"f:b":{".":{},"f:c":{}}},"f:d":{}})");
  EXPECT_TRUE(set.has(fields_path({"a", "b"})));
  EXPECT_TRUE(set.has(fields_path({"a", "b", "c"})));
  EXPECT_TRUE(set.has(fields_path({"d"})));
  EXPECT_FALSE(set.has(fields_path({"a"})));
  EXPECT_FALSE(set.has(fields_path({"a", "b", "c", "d"})));
  EXPECT_FALSE(set.has({}));
  EXPECT_EQ(set.size(), 3U);
  std::string listed;
  set.for_each([&](std::span<const PathElement> path) { listed += path_text(path) + " "; });
  EXPECT_EQ(listed, ".d .a.b .a.b.c ");
  EXPECT_EQ(set.below(PathElement::field("a")).encode(), R"({"f:b":{".":{},"f:c":{}}})");
  EXPECT_TRUE(set.below(PathElement::field("d")).empty());
  EXPECT_EQ(set.paths().size(), 3U);
}

TEST(FieldSet, Algebra) {
  const FieldSet a = set_of(R"({"f:a":{".":{},"f:x":{},"f:y":{}},"f:b":{}})");
  const FieldSet b = set_of(R"({"f:a":{"f:x":{},"f:z":{}},"f:b":{"f:q":{}},"f:c":{}})");
  EXPECT_EQ(a.unite(b).encode(), R"({"f:a":{".":{},"f:x":{},"f:y":{},"f:z":{}},"f:b":{".":{},"f:q":{}},"f:c":{}})");
  EXPECT_EQ(b.unite(a), a.unite(b));
  EXPECT_EQ(a.intersect(b).encode(), R"({"f:a":{"f:x":{}}})");
  EXPECT_EQ(b.intersect(a), a.intersect(b));
  EXPECT_EQ(a.subtract(b).encode(), R"({"f:a":{".":{},"f:y":{}},"f:b":{}})");
  EXPECT_EQ(b.subtract(a).encode(), R"({"f:a":{"f:z":{}},"f:b":{"f:q":{}},"f:c":{}})");
  EXPECT_EQ(b.subtract_trees(a).encode(), R"({"f:c":{}})");
  EXPECT_EQ(a.leaves().encode(), R"({"f:a":{"f:x":{},"f:y":{}},"f:b":{}})");
  EXPECT_TRUE(a.subtract(a).empty());
  EXPECT_EQ(a.unite(FieldSet()), a);
  EXPECT_TRUE(a.intersect(FieldSet()).empty());
}

TEST(FieldSet, WhatStaysAsItWasIsShared) {
  const FieldSet a = set_of(R"({"f:a":{"f:x":{}},"f:b":{"f:y":{}}})");
  EXPECT_EQ(a.unite(set_of(R"({"f:a":{"f:x":{}}})")).root(), a.root());
  EXPECT_EQ(a.subtract(set_of(R"({"f:c":{}})")).root(), a.root());
  EXPECT_EQ(a.subtract(set_of(R"({"f:b":{"f:y":{}}})")).below(PathElement::field("a")).root(), a.below(PathElement::field("a")).root());
}

TEST(FieldSet, AnInsertLeavesCopiesAlone) {
  FieldSet a{fields_path({"a", "b"})};
  const FieldSet copy = a;
  a.insert(fields_path({"a"}));
  a.insert({});
  EXPECT_EQ(a.encode(), R"({"f:a":{".":{},"f:b":{}}})");
  EXPECT_EQ(copy.encode(), R"({"f:a":{"f:b":{}}})");
}

TEST(FieldSet, IntersectionWithEncodedTextIsFoundWithoutDecoding) {
  const std::string_view text = R"({"f:a":{".":{},"f:x":{},"k:{\"n\":1}":{"f:v":{}}},"f:b":{}})";
  const auto met = [&](std::string_view other) {
    const FieldSet set = set_of(other);
    EXPECT_EQ(meets(text, set), !set_of(text).intersect(set).empty()) << other;
    return meets(text, set);
  };
  EXPECT_TRUE(met(R"({"f:a":{}})"));
  EXPECT_TRUE(met(R"({"f:a":{"f:x":{}}})"));
  EXPECT_TRUE(met(R"({"f:a":{"k:{\"n\":1}":{"f:v":{}}}})"));
  EXPECT_TRUE(met(R"({"f:b":{}})"));
  EXPECT_FALSE(met(R"({"f:b":{"f:x":{}}})"));
  EXPECT_FALSE(met(R"({"f:a":{"f:y":{},"k:{\"n\":1}":{}}})"));
  EXPECT_FALSE(met("{}"));
  EXPECT_TRUE(meets("{", FieldSet{fields_path({"a"})}));
  EXPECT_TRUE(meets(R"({"f:a":{"x:later":{}}})", FieldSet{fields_path({"a"})})) << "nothing below that is known: the element is meant";
}

TEST(FieldFilter, LeavesOutTrees) {
  const FieldFilter filter = FieldFilter::excluding(set_of(R"({"f:status":{}})"));
  EXPECT_EQ(filter.apply(set_of(R"({"f:spec":{"f:a":{}},"f:status":{"f:a":{}}})")).encode(), R"({"f:spec":{"f:a":{}}})");
  EXPECT_TRUE(FieldFilter().everything());
  EXPECT_FALSE(filter.everything());
}

TEST(FieldFilter, LetsOnlyPatternsIn) {
  const auto f = [](std::string_view name) { return std::optional(PathElement::field(name)); };
  const FieldFilter::Pattern patterns[] = {{f("spec"), f("containers"), std::nullopt, f("resources")},
                                           {f("spec"), f("containers"), std::nullopt, f("name")}};
  const FieldFilter filter = FieldFilter::including(patterns);
  EXPECT_EQ(
      filter
          .apply(set_of(
              R"({"f:metadata":{"f:x":{}},"f:spec":{".":{},"f:containers":{"k:{\"name\":\"a\"}":{".":{},"f:image":{},"f:name":{},"f:resources":{"f:limits":{}}}},"f:y":{}}})"))
          .encode(),
      R"({"f:spec":{".":{},"f:containers":{"k:{\"name\":\"a\"}":{".":{},"f:name":{},"f:resources":{"f:limits":{}}}}}})");
}

}  // namespace
}  // namespace backplane
