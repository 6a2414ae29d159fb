// Raw JSON through readers, writers, patches and entries.
#include "engine/raw_json.hpp"

#include <gtest/gtest.h>

#include "backplane/types/json_reading.hpp"
#include "engine/codec.hpp"

namespace backplane {
namespace {

constexpr std::string_view kSent = R"({ "z":1.0, "a":{"q":1e2,"b":"<\u0041"}, "dup":1,"dup":2, "l":[ 1.0,{"y":1,"x":2} ] })";
constexpr std::string_view kCompact = R"({"z":1.0,"a":{"q":1e2,"b":"\u003c\u0041"},"dup":1,"dup":2,"l":[1.0,{"y":1,"x":2}]})";
constexpr std::string_view kRead = R"({"a":{"b":"\u003cA","q":100},"dup":2,"l":[1,{"x":2,"y":1}],"z":1})";

const Schema& holder() {
  static constexpr std::string_view kDocument = R"({"definitions":{
    "Config":{"type":"object","properties":{"raw":{"x-backplane-type":"rawExtension","x-backplane-pointer":true,"x-backplane-proto":1}}},
    "Holder":{"type":"object","properties":{
      "kind":{"type":"string"},
      "count":{"type":"integer","format":"int64","x-backplane-proto":1},
      "data":{"x-backplane-type":"rawExtension","x-backplane-pointer":true,"x-backplane-proto":2},
      "list":{"type":"array","items":{"$ref":"#/definitions/Config"},"x-backplane-proto":3},
      "map":{"type":"object","additionalProperties":{"$ref":"#/definitions/Config"},"x-backplane-proto":4}}},
    "Plain":{"type":"object","properties":{"list":{"type":"array","items":{"type":"string"},"x-backplane-proto":1}}}}})";
  static const auto set = [] {
    auto compiled = SchemaSet::compile({&kDocument, 1});
    EXPECT_TRUE(compiled.ok()) << compiled.status().message();
    return *compiled;
  }();
  return *set->find("Holder");
}

// Parses like a JSON body.
Value read(std::string_view text) {
  Value tree = *parse_json(text, {}, nullptr);
  keep_raw(&holder(), tree, text);
  EXPECT_TRUE(holder().normalize(tree, nullptr).ok());
  return tree;
}

std::string with_data(std::string_view data) { return R"({"data":)" + std::string(data) + "}"; }

// The stored text after a change of the tree, with the raw value as in protobuf.
std::string normalized(Value tree) {
  EXPECT_TRUE(holder().normalize(tree, nullptr).ok());
  const Value* data = find(tree.get_object(), "data");
  return data != nullptr && is_raw(*data) ? std::string(raw_text(*data)) : to_json(tree);
}

TEST(RawJson, KeepsWhatWasSentAndShowsItCompact) {
  const Value tree = read(with_data(kSent));
  EXPECT_EQ(raw_text(*find(tree.get_object(), "data")), kSent);
  EXPECT_EQ(to_json(tree), with_data(kCompact));
  std::string kept;
  EXPECT_TRUE(append_kept_json(kept, tree));
  EXPECT_EQ(kept, with_data(kSent));
  EXPECT_EQ(kept_json(tree), " " + kept);
  EXPECT_EQ(kept_json(read(with_data(R"({"a":1.0})"))), with_data(R"({"a":1.0})")) << "compact as it is";
}

TEST(RawJson, IsFoundInListsMapsAndBehindEscapedNames) {
  const Value tree = read(R"({"list":[{"raw":1.0},{"raw": [1 , 2.0]}],"map":{"a\"b":{"r\u0061w":{"x" :1}},"n":{"raw":null}}})");
  EXPECT_EQ(to_json(tree), R"({"list":[{"raw":1.0},{"raw":[1,2.0]}],"map":{"a\"b":{"raw":{"x":1}},"n":{}}})");
  EXPECT_TRUE(is_raw(*find(tree.at("map").at("a\"b").get_object(), "raw")));
}

TEST(RawJson, TwoAreTheSameWhenTheirTextsAre) {
  EXPECT_EQ(read(with_data(R"({"a":1})")), read(with_data(R"({"a":1})")));
  EXPECT_NE(read(with_data(R"({"a":1})")), read(with_data(R"({"a": 1})")));
  EXPECT_NE(read(with_data(R"({"a":1})")), read(with_data(R"({"a":1.0})")));
}

TEST(RawJson, WhatCameWithoutTextIsWrittenAsGoWritesIt) {
  Value tree = *parse_yaml("data: {b: 1.0, a: 0x10, d: '<', c: {z: 1, x: [1e3]}}", {}, nullptr);
  EXPECT_EQ(normalized(tree), R"({"a":16,"b":1,"c":{"x":[1000],"z":1},"d":"\u003c"})");
}

TEST(RawJson, NothingThatIsReadLooksLikeIt) {
  for (const std::string_view text : {R"({"data":[1e999,"x"]})", R"({"data":[-1e999,"x"]})"})
    EXPECT_FALSE(parse_json(text, {}, nullptr).ok());
  for (const std::string_view text : {"[.inf, x]", "[1e999, x]", "[!!float inf, x]"}) {
    const auto tree = parse_yaml(text, {}, nullptr);
    EXPECT_FALSE(tree.ok() && is_raw(*tree)) << text;
  }
  Value list = Array{1.0, "x"};
  EXPECT_FALSE(is_raw(list));
}

TEST(RawJson, ProtobufHasItAsItWasSent) {
  std::string message;
  ASSERT_TRUE(holder().encode_protobuf(kept_json(read(with_data(kSent))), message).ok());
  EXPECT_NE(message.find(kSent), std::string::npos);
  auto back = holder().decode_protobuf(message, {});
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(normalized(*back), kSent);
  EXPECT_FALSE(holder().decode_protobuf("\x12\x04\x0a\x02{x", {}).ok()) << "what is no JSON is refused";
}

TEST(RawJson, AnEntryHasBothForms) {
  Object object = read(with_data(kSent)).get_object();
  object["kind"] = "Holder";
  const ObjectRef entry = make_object(object);
  EXPECT_EQ(entry->json().view(), R"({"data":)" + std::string(kCompact) + R"(,"kind":"Holder"})");
  EXPECT_EQ(kept_json(*entry).view(), R"({"data":)" + std::string(kSent) + R"(,"kind":"Holder"})");
  EXPECT_EQ(raw_text(*find(decode_kept(*entry, &holder(), {}), "data")), kSent);
  EXPECT_EQ(kept_json(*make_object(Object{{"kind", "a"}})).view(), R"({"kind":"a"})");
}

// Regression: it was stored and could never be changed or deleted again, because bodies were parsed less strictly than stored values.
TEST(RawJson, WhatIsNoTextIsReadAgain) {
  for (const std::string_view data : {R"({"a":"\ud800"})", "{\"a\":\"\xff\"}"}) {
    Object object = read(with_data(data)).get_object();
    object["kind"] = "Holder";
    const ObjectRef entry = make_object(object);
    EXPECT_EQ(raw_text(*find(decode_kept(*entry, &holder(), {}), "data")), data);
    EXPECT_TRUE(read_json(entry->json().view(), {}).has_value());
  }
}

// The next cases are responses of kube-apiserver 1.36.3.

TEST(RawJson, AMergePatchOpensWhatItTouches) {
  Value target = read(with_data(kSent));
  compact_raw_within(target);
  Value other(target);
  merge_patch(target, *parse_json(R"({"count":1})", {}, nullptr));
  EXPECT_EQ(normalized(target), kCompact);

  const std::string_view text = R"({"data":{"y":1.0,"n":null,"z":null,"b":{"d":1e1,"c":null},"a":{"q":2.50}}})";
  Value patch = *parse_json(text, {}, nullptr);
  keep_raw(&holder(), patch, text);
  compact_raw_within(patch);
  merge_patch(other, patch);
  EXPECT_EQ(normalized(other), R"({"a":{"b":"\u003c\u0041","q":2.50},"b":{"d":1e1},"dup":2,"l":[1.0,{"y":1,"x":2}],"y":1.0})");
}

std::string json_patched(std::string_view operations) {
  Value target = read(with_data(kSent));
  compact_raw_within(target);
  Value list = *parse_json(operations, {}, nullptr);
  keep_raw_operations(&holder(), list, operations);
  compact_raw_within(list);
  if (Status status = json_patch(target, list.get_array()); !status.ok()) return "refused";
  return normalized(target);
}

TEST(RawJson, AJsonPatchOpensWhatItTouches) {
  EXPECT_EQ(json_patched(R"([{"op":"add","path":"/count","value":1}])"), kCompact);
  EXPECT_EQ(json_patched(R"([{"op":"replace","path":"/data/a/q","value":{"y":1.0, "b":2}}])"),
            R"({"a":{"b":"\u003c\u0041","q":{"y":1.0,"b":2}},"dup":2,"l":[1.0,{"y":1,"x":2}],"z":1.0})");
  EXPECT_EQ(json_patched(R"([{"op":"add","path":"/data/l/1/w","value":3.0}])"),
            R"({"a":{"q":1e2,"b":"\u003c\u0041"},"dup":2,"l":[1.0,{"w":3.0,"x":2,"y":1}],"z":1.0})");
  EXPECT_EQ(json_patched(R"([{"op":"replace","path":"/data","value":{"y":1.0, "b":2,"b":3}}])"), R"({"y":1.0,"b":2,"b":3})");
  EXPECT_EQ(json_patched(R"([{"op":"copy","from":"/data/a","path":"/data/c"}])"),
            R"({"a":{"q":1e2,"b":"\u003c\u0041"},"c":{"q":1e2,"b":"\u003c\u0041"},"dup":2,"l":[1.0,{"y":1,"x":2}],"z":1.0})");
  EXPECT_EQ(json_patched(R"([{"op":"test","path":"/data/a/q","value":100}])"), "refused");
  EXPECT_EQ(json_patched(R"([{"op":"test","path":"/data/l/1","value":{"x":2,"y":1}}])"),
            R"({"a":{"q":1e2,"b":"\u003c\u0041"},"dup":2,"l":[1.0,{"y":1,"x":2}],"z":1.0})");
  // Objects with raw JSON are compared by value, with members in any order.
  const std::string of_list = R"({"op":"add","path":"/list","value":[{"raw":{"a":1,"b":{"c":2,"d":3}}}]},)";
  EXPECT_NE(json_patched("[" + of_list + R"({"op":"test","path":"/list/0","value":{"raw":{"b":{"d":3,"c":2},"a":1}}}])"), "refused");
  EXPECT_EQ(json_patched("[" + of_list + R"({"op":"test","path":"/list/0","value":{"raw":{"b":{"d":4,"c":2},"a":1}}}])"), "refused");
}

TEST(RawJson, AStrategicMergeReadsIt) {
  Value target = read(with_data(kSent));
  read_raw_within(target);
  ASSERT_TRUE(holder().strategic_merge(target, *parse_json(R"({"count":1})", {}, nullptr)).ok());
  EXPECT_EQ(normalized(target), kRead);
}

TEST(RawJson, WholeObjectsOfAPatchKeepWhatIsInThem) {
  Value target = read(with_data("{}"));
  const std::string_view operations =
      R"([{"op":"add","path":"/list","value":[{"raw":{"b":1.0, "a":1e3}}]},{"op":"add","path":"/count","value":7}])";
  Value list = *parse_json(operations, {}, nullptr);
  keep_raw_operations(&holder(), list, operations);
  ASSERT_TRUE(json_patch(target, list.get_array()).ok());
  ASSERT_TRUE(holder().normalize(target, nullptr).ok());
  EXPECT_EQ(to_json(target), R"({"count":7,"data":{},"list":[{"raw":{"b":1.0,"a":1e3}}]})");
}

TEST(RawJson, OpenedNamesAreThoseThatAreRead) {
  Value opened = make_raw(R"({"\ud800":1,"a\u0042":2,"\ud83d\ude00":3})", {}), read = opened;
  open_raw(opened);
  read_raw(read);
  EXPECT_EQ(opened, read);
}

TEST(RawJson, ItsDepthCounts) {
  const Value tree = read(with_data(R"({"a":[[{"b":"]]]]["}]]})"));
  EXPECT_FALSE(nests_deeper(tree, 5));
  EXPECT_TRUE(nests_deeper(tree, 4));
}

TEST(RawJson, TypesThatHaveNoneAreNotWalked) {
  EXPECT_TRUE(holds_raw(&holder()));
  EXPECT_FALSE(holds_raw(nullptr));
  EXPECT_FALSE(holds_raw(meta_schemas()->find("io.k8s.apimachinery.pkg.apis.meta.v1.Status")));
  EXPECT_TRUE(holds_raw(meta_schemas()->find("io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent")));
}

}  // namespace
}  // namespace backplane
