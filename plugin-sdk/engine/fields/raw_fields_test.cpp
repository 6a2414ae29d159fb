#include "engine/raw_fields.hpp"

#include <gtest/gtest.h>

#include <random>

#include "backplane/types/schema.hpp"
#include "engine/object_fields.hpp"

namespace backplane {
namespace {

Value tree_of(std::string_view text) { return json::parse(json::string_view(text.data(), text.size())); }

TEST(RawFieldsTest, ASetIsReadOutOfTextAsOutOfATree) {
  const std::string text = R"({"f:a":{".":{},"k:{\"n\":\"c\"}":{"f:b":{}},"v:1":{}}})";
  const auto of_tree = FieldSet::decode(tree_of(text));
  const auto of_text = FieldSet::decode(make_raw(text, {}));
  ASSERT_TRUE(of_tree.ok() && of_text.ok());
  EXPECT_EQ(*of_tree, *of_text);
  EXPECT_EQ(text_of_raw(raw_fields(*of_text, {})), text);
  EXPECT_TRUE(meets(make_raw(text, {}), *of_tree));
  EXPECT_FALSE(FieldSet::decode(make_raw(R"({"f:a")", {})).ok());
}

TEST(RawFieldsTest, ASetIsCoveredByTextThatHasEachOfItsFields) {
  const std::string text = R"({"f:a":{".":{},"f:b":{},"k:{\"n\":\"c\"}":{".":{},"f:d":{"x:":{}}}},"f:e":{"f:g":{}}})";
  const auto covered = [&](const FieldSet& set) {
    EXPECT_EQ(covers(text, set), covers(tree_of(text), set));
    EXPECT_EQ(covers(text, set), covers(make_raw(text, {}), set));
    return covers(text, set);
  };
  const Value name("c");
  const PathElement key = PathElement::key({{"n", &name}});
  const PathElement a = PathElement::field("a"), d = PathElement::field("d");
  EXPECT_TRUE(covered({}));
  EXPECT_TRUE(covered({fields_path({"a"}), fields_path({"a", "b"}), {a, key}, {a, key, d}, fields_path({"e", "g"})}));
  EXPECT_FALSE(covered({fields_path({"e"})}));
  EXPECT_FALSE(covered({fields_path({"a", "b"}), fields_path({"a", "c"})}));
  EXPECT_FALSE(covered({fields_path({"a", "b", "c"})}));
  EXPECT_FALSE(covers(R"({"f:a":{})", {fields_path({"a"})}));
  EXPECT_FALSE(covers(R"({"f:a":{},"q":{}})", {fields_path({"a"})}));
}

// Regression: a repeated field was counted as another field.
TEST(RawFieldsTest, AFieldThatIsNamedTwiceIsOne) {
  EXPECT_FALSE(covers(R"({"f:a":{},"f:a":{}})", {fields_path({"a"}), fields_path({"b"})}));
  EXPECT_TRUE(covers(R"({"f:a":{},"f:b":{},"f:a":{}})", {fields_path({"a"}), fields_path({"b"})}));
}

// Sixteen bytes are compared at a time.
TEST(RawFieldsTest, TextThatIsNotCompactIsFoundAtAnyPosition) {
  const std::string plain = R"({"f:metadata":{"f:labels":{".":{},"f:a":{}}}})";
  const auto compacted = [](std::string_view text) {
    std::string out;
    append_compact_json(out, text);
    return out;
  };
  EXPECT_EQ(compacted(plain), plain);
  for (std::size_t at = 4; at < 12; ++at) {
    EXPECT_EQ(compacted(std::string(plain).insert(at, ">")), std::string(plain).insert(at, "\\u003e"));
    EXPECT_EQ(compacted(std::string(plain).insert(at, " ")), std::string(plain).insert(at, " ")) << "within a text";
    EXPECT_EQ(compacted(std::string(plain).insert(at, "\xe2\x80\xa8")), std::string(plain).insert(at, "\\u2028"));
  }
  for (const char* blank : {" ", "\n", "\t", "\r"}) {
    for (const std::size_t at : {0u, 1u, 13u, 14u, 15u, 41u, 44u, 45u})
      EXPECT_EQ(compacted(std::string(plain).insert(at, blank)), plain) << at;
  }
}

TEST(RawFieldsTest, NamesAreInOrderOnEveryLevel) {
  EXPECT_TRUE(names_in_order("{}"));
  EXPECT_TRUE(names_in_order(R"({".":{},"f:a":{"f:a":{},"f:b":{}},"f:b":{}})"));
  EXPECT_FALSE(names_in_order(R"({"f:b":{},"f:a":{}})"));
  EXPECT_FALSE(names_in_order(R"({"f:a":{"k:{\"p\":80}":{},"k:{\"p\":443}":{}}})"));
  EXPECT_FALSE(names_in_order(R"({"f:a":{})"));
}

TEST(RawFieldsTest, TextSpellsTheTreeThatIsPrintedSo) {
  for (const char* text : {"{}", "[]", R"({"a":{},"b":[1,"<x>","\u2028é",null,true,-1.5,{"k:{\"n\":\"c\"}":{}}]})", R"("a\\b")"}) {
    const Value value = tree_of(text);
    const std::string printed = to_json(value);
    EXPECT_TRUE(is_json_of(printed, value)) << text;
    EXPECT_TRUE(is_json_of(printed, make_raw(printed, {}))) << text;
    EXPECT_FALSE(is_json_of(printed + " ", value)) << text;
    EXPECT_FALSE(is_json_of(std::string_view(printed).substr(0, printed.size() - 1), value)) << text;
  }
  EXPECT_FALSE(is_json_of(R"({"a":1,"b":2})", tree_of(R"({"a":1})")));
  EXPECT_FALSE(is_json_of(R"({"a":1})", tree_of(R"({"a":1,"b":2})")));
  EXPECT_FALSE(is_json_of(R"({"a":1})", tree_of(R"({"a":2})")));
}

constexpr std::string_view kPod = R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","labels":{"a/b":"c","é":"d","app":"x"},
  "annotations":{},"ownerReferences":[{"uid":"u","name":"o"}],"finalizers":["z","a"]},"spec":{"containers":[{"name":"web","image":"i",
  "ports":[{"containerPort":443,"protocol":"TCP"},{"containerPort":80,"protocol":"TCP"},{"containerPort":80,"protocol":"TCP"}],
  "env":[{"name":"A","value":"1"},{"name":"\"<"}],"resources":{"limits":{"cpu":"1"}},"command":["b","a"]},{"name":"b"}],
  "volumes":[{"name":"v","emptyDir":{}}],"tolerations":[{"key":"k"}],"imagePullSecrets":[{}],"securityContext":{}},
  "status":{"phase":"Running","podIPs":[{"ip":"1.2.3.4"}]}})";

// The output of append_created_fields(), or "-", and the expected output.
std::string created(const Schema* type, const Object& before, const Object& after, const FieldSet& excluded) {
  std::string out;
  return append_created_fields(out, type, before, after,
                               {fields_path({"kind"}), fields_path({"metadata"}), fields_path({"metadata", "name"})}, excluded)
             ? out
             : "-";
}
std::string compared(const Schema* type, const Object& before, const Object& after, const FieldSet& excluded) {
  const auto changes = compare_fields(type, before, after);
  if (!changes.ok()) return "-";
  const FieldSet set = changes->added.unite(changes->modified).subtract_trees(excluded);
  return set.subtract({fields_path({"kind"}), fields_path({"metadata"}), fields_path({"metadata", "name"})}).encode();
}

// Removes random members and items.
void remove_members(Value& value, std::mt19937& random, unsigned odds) {
  if (value.is_array()) {
    Array& items = value.get_array();
    for (std::size_t i = items.size(); i-- > 0;) {
      if (random() % odds == 0) items.erase(items.begin() + static_cast<std::ptrdiff_t>(i));
    }
    for (Value& item : items) remove_members(item, random, odds);
  } else if (value.is_object()) {
    std::vector<std::string> gone;
    for (auto& member : value.get_object()) {
      if (random() % odds == 0) gone.emplace_back(member.key());
      remove_members(member.value(), random, odds);
    }
    for (const std::string& key : gone) value.get_object().erase(key);
  }
}

TEST(RawFieldsTest, WhatANewObjectOwnsIsWrittenAsAComparisonWouldHaveIt) {
  const Schema* pod = core_schemas()->find({"", "v1", "Pod"});
  ASSERT_NE(pod, nullptr);
  Value nothing = tree_of(R"({"kind":"Pod","apiVersion":"v1"})");
  ASSERT_TRUE(pod->normalize(nothing, nullptr).ok());
  const Value whole = tree_of(kPod);
  std::mt19937 random(7);
  std::size_t written = 0;
  constexpr int kObjects = 2000;
  for (int i = 0; i < kObjects; ++i) {
    Value object = whole;
    if (i > 0) remove_members(object, random, 2 + random() % 30);
    if (!object.is_object()) continue;
    const FieldSet excluded = random() % 2 == 0 ? FieldSet{fields_path({"status"}), fields_path({"spec", "volumes"})} : FieldSet();
    const Object& before = random() % 4 == 0 ? whole.get_object() : nothing.get_object();
    const std::string out = created(pod, before, object.get_object(), excluded);
    if (out == "-") continue;
    ++written;
    ASSERT_EQ(out, compared(pod, before, object.get_object(), excluded)) << to_json(object);
  }
  // Nearly all for new objects.
  EXPECT_GT(written, kObjects / 2);
  EXPECT_NE(created(pod, nothing.get_object(), whole.get_object(), {}), "-");
}

}  // namespace
}  // namespace backplane
