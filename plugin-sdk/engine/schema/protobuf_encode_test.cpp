#include <gtest/gtest.h>

#include "backplane/types/schema.hpp"

namespace backplane {
namespace {

using std::string_literals::operator""s;

std::shared_ptr<const SchemaSet> things() {
  static constexpr std::string_view kDocument = R"({"definitions":{
    "Inner":{"type":"object","properties":{"name":{"type":"string","x-backplane-proto":1}}},
    "Handler":{"type":"object","properties":{
      "path":{"type":"string","x-backplane-proto":2},
      "port":{"x-backplane-type":"intOrString","x-backplane-proto":1}}},
    "Any":{"x-backplane-shape":{"object":{"$ref":"#/definitions/Inner"},"boolean":{"type":"boolean"}},
      "x-backplane-proto":{"boolean":1,"object":2}},
    "Thing":{"type":"object","properties":{
      "kind":{"type":"string"},
      "last":{"type":"string","x-backplane-proto":7},
      "Handler":{"allOf":[{"$ref":"#/definitions/Handler"}],"x-backplane-inline":true,"x-backplane-proto":9},
      "count":{"type":"integer","format":"int32","x-backplane-proto":1},
      "items":{"type":"array","items":{"$ref":"#/definitions/Inner"},"x-backplane-proto":2},
      "labels":{"type":"object","additionalProperties":{"type":"string"},"x-backplane-proto":3},
      "data":{"type":"string","format":"byte","x-backplane-proto":4},
      "set":{"type":"boolean","x-backplane-pointer":true,"x-backplane-proto":5},
      "verbs":{"type":"array","items":{"type":"string"},"x-backplane-proto":{"number":6,"emit":"nonNil"}},
      "time":{"x-backplane-type":"time","x-backplane-pointer":true,"x-backplane-proto":10},
      "any":{"allOf":[{"$ref":"#/definitions/Any"}],"x-backplane-pointer":true,"x-backplane-proto":11},
      "raw":{"x-backplane-type":"rawExtension","x-backplane-pointer":true,"x-backplane-proto":12},
      "ratio":{"type":"number","format":"double","x-backplane-pointer":true,"x-backplane-proto":13},
      "size":{"x-backplane-type":"quantity","x-backplane-pointer":true,"x-backplane-proto":14}}}}})";
  static const auto set = [] {
    const std::string_view documents[] = {kDocument};
    auto compiled = SchemaSet::compile(documents);
    EXPECT_TRUE(compiled.ok()) << compiled.status().message();
    return *compiled;
  }();
  return set;
}

// The encoding of an empty Thing, without the members before and after the tested one.
const std::string kCount = "\x08\0"s, kLast = "\x3a\0"s, kHandler = "\x4a\x0a\x0a\x06\x08\0\x10\0\x1a\0\x12\0"s;

std::string encoded(std::string_view json) {
  std::string out;
  const Status status = things()->find(std::string_view("Thing"))->encode_protobuf(json, out);
  EXPECT_TRUE(status.ok()) << status.message();
  return out;
}

TEST(ProtobufEncoding, WhatIsNotSetIsWrittenOnlyWhereItCannotBeUnset) { EXPECT_EQ(encoded("{}"), kCount + kLast + kHandler); }

TEST(ProtobufEncoding, MembersGoOutByNumberWhateverTheirOrder) {
  EXPECT_EQ(encoded(R"({"kind":"Thing","last":"z","path":"/x","count":-5,"port":"ab"})"),
            "\x08\xfb\xff\xff\xff\xff\xff\xff\xff\xff\x01\x3a\x01z\x4a\x0e\x0a\x08\x08\x01\x10\0\x1a\x02"
            "ab\x12\x02/x"s);
}

TEST(ProtobufEncoding, ListsAndMapsHaveOneFieldForEachItem) {
  EXPECT_EQ(encoded(R"({"items":[{"name":"a"},{}],"labels":{"k":"v","l":""}})"),
            kCount + "\x12\x03\x0a\x01"s + "a\x12\x02\x0a\0\x1a\x06\x0a\x01k\x12\x01v\x1a\x05\x0a\x01l\x12\0"s + kLast + kHandler);
  EXPECT_EQ(encoded(R"({"items":[],"labels":{}})"), kCount + kLast + kHandler);
  EXPECT_EQ(encoded(R"({"verbs":["get"]})"), kCount + "\x32\x05\x0a\x03get"s + kLast + kHandler);
  EXPECT_EQ(encoded(R"({"verbs":[]})"), kCount + "\x32\0"s + kLast + kHandler);
}

TEST(ProtobufEncoding, PointersAndBytesAreWrittenWhenTheyAreSet) {
  EXPECT_EQ(encoded(R"({"data":"aGk=","set":false})"), kCount + "\x22\x02hi\x28\0"s + kLast + kHandler);
  EXPECT_EQ(encoded(R"({"data":"","set":null})"), kCount + "\x22\0"s + kLast + kHandler);
}

TEST(ProtobufEncoding, EveryScalarHasItsForm) {
  const std::string begin = kCount + kLast + kHandler;
  EXPECT_EQ(encoded(R"({"time":"1970-01-01T00:02:08Z"})"), begin + "\x52\x05\x08\x80\x01\x10\0"s);
  EXPECT_EQ(encoded(R"({"any":false})"), begin + "\x5a\x02\x08\0"s);
  EXPECT_EQ(encoded(R"({"any":{"name":"a"}})"), begin + "\x5a\x07\x08\x01\x12\x03\x0a\x01"s + "a");
  EXPECT_EQ(encoded(R"({"raw":{"a":[1,"x"]}})"), begin + "\x62\x0f\x0a\x0d{\"a\":[1,\"x\"]}"s);
  EXPECT_EQ(encoded(R"({"ratio":0.5})"), begin + "\x69\0\0\0\0\0\0\xe0\x3f"s);
  EXPECT_EQ(encoded(R"({"size":"1Gi"})"), begin +
                                              "\x72\x05\x0a\x03"
                                              "1Gi"s);
}

TEST(ProtobufEncoding, EscapesAreUndone) {
  EXPECT_EQ(encoded(R"({"last":"\u003ca\"\n\u00e9\ud83d\ude00"})"), kCount + "\x3a\x0a<a\"\n\xc3\xa9\xf0\x9f\x98\x80"s + kHandler);
}

TEST(ProtobufEncoding, LengthsTakeTheBytesTheyNeed) {
  const std::string name(300, 'n');
  EXPECT_EQ(encoded("{\"items\":[{\"name\":\"" + name + "\"}]}"), kCount + "\x12\xaf\x02\x0a\xac\x02"s + name + kLast + kHandler);
}

TEST(ProtobufEncoding, WhatIsWrittenIsReadAsItWas) {
  constexpr std::string_view kJson =
      R"({"last":"z","path":"/x","port":80,"count":3,"items":[{"name":"a"}],"labels":{"k":"v"},"data":"aGk=","set":true,"verbs":["get","list"],"any":{"name":"a"},"raw":{"a":1},"ratio":0.5,"size":"1"})";
  const Schema* schema = things()->find(std::string_view("Thing"));
  auto tree = schema->decode_protobuf(encoded(kJson), {});
  ASSERT_TRUE(tree.ok()) << tree.status().message();
  ASSERT_TRUE(schema->normalize(*tree, nullptr).ok());
  EXPECT_EQ(to_json(*tree), kJson);
}

TEST(ProtobufEncoding, OtherBytesAreRefusedAndNothingIsWritten) {
  const Schema* schema = things()->find(std::string_view("Thing"));
  std::string out = "before";
  for (const char* json : {"", "[]", "{\"count\":\"x\"}", "{\"items\":{}}", "{\"last\":1}", "{\"last\":\"x\"", "{\"time\":\"noon\"}"}) {
    EXPECT_FALSE(schema->encode_protobuf(json, out).ok()) << json;
    EXPECT_EQ(out, "before") << json;
  }
}

TEST(ProtobufEncoding, CustomResourcesHaveNoSuchForm) {
  const std::string_view documents[] = {R"({"x-backplane-mode":"structural","definitions":{"Foo":{"type":"object"}}})"};
  auto set = SchemaSet::compile(documents);
  ASSERT_TRUE(set.ok());
  EXPECT_FALSE((*set)->find(std::string_view("Foo"))->has_protobuf());
  std::string out;
  EXPECT_FALSE((*set)->find(std::string_view("Foo"))->encode_protobuf("{}", out).ok());
}

}  // namespace
}  // namespace backplane
