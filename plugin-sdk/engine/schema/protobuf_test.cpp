#include <gtest/gtest.h>

#include "backplane/types/schema.hpp"

namespace backplane {
namespace {

std::shared_ptr<const SchemaSet> things() {
  static constexpr std::string_view kDocument = R"({"definitions":{
    "Inner":{"type":"object","properties":{"name":{"type":"string","x-backplane-proto":1}}},
    "Handler":{"type":"object","properties":{"path":{"type":"string","x-backplane-proto":2}}},
    "Thing":{"type":"object","properties":{
      "Handler":{"allOf":[{"$ref":"#/definitions/Handler"}],"x-backplane-inline":true,"x-backplane-proto":{"number":9}},
      "count":{"type":"integer","format":"int32","x-backplane-proto":1},
      "items":{"type":"array","items":{"$ref":"#/definitions/Inner"},"x-backplane-proto":2},
      "labels":{"type":"object","additionalProperties":{"type":"string"},"x-backplane-proto":3},
      "data":{"type":"string","format":"byte","x-backplane-proto":4},
      "port":{"x-backplane-type":"intOrString","x-backplane-proto":5},
      "at":{"type":"string","format":"date-time","x-backplane-type":"microTime","x-backplane-proto":7},
      "ids":{"type":"array","items":{"type":"integer","format":"int64"},"x-backplane-proto":6}}}}})";
  const std::string_view documents[] = {kDocument};
  auto set = SchemaSet::compile(documents);
  EXPECT_TRUE(set.ok());
  return *set;
}

Result<Value> decode(std::string_view bytes) { return things()->find(std::string_view("Thing"))->decode_protobuf(bytes, {}); }

TEST(Protobuf, EveryFormOfFieldLandsWhereJsonHasIt) {
  std::string bytes("\x08\xfb\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11);  // count: -5
  bytes += std::string("\x12\x03\x0a\x01", 4) + "a";                      // items[0].name
  bytes += std::string("\x12\x03\x0a\x01", 4) + "b";
  bytes += std::string("\x1a\x06\x0a\x01k\x12\x01v", 8);       // labels
  bytes += std::string("\x22\x02hi", 4);                       // data
  bytes += std::string("\x2a\x06\x08\x01\x1a\x02", 6) + "ab";  // port: "ab"
  bytes += std::string("\x32\x02\x07\x08", 4);                 // ids, packed
  bytes += std::string("\x4a\x04\x12\x02/x", 6);               // Handler.path
  bytes += std::string("\xa8\x06\x01", 3);                     // an unknown number
  auto value = decode(bytes);
  ASSERT_TRUE(value.ok()) << value.status().message();
  EXPECT_EQ(
      *value,
      json::parse(
          R"({"count":-5,"items":[{"name":"a"},{"name":"b"}],"labels":{"k":"v"},"data":"aGk=","port":"ab","ids":[7,8],"path":"/x"})"));
}

// Regression: a MicroTime of a billion nanoseconds or more threw an exception.
TEST(Protobuf, NanosecondsBeyondASecondGoToTheSeconds) {
  const auto at = [](std::string_view nanos) {
    const std::string time = std::string("\x08\x01\x10", 3) + std::string(nanos);
    auto value = decode(std::string("\x3a", 1) + static_cast<char>(time.size()) + time);
    return value.ok() ? to_json(*value) : value.status().message();
  };
  EXPECT_EQ(at("\xf0\x93\x09"), R"({"at":"1970-01-01T00:00:01.000150Z"})");
  EXPECT_EQ(at("\xff\xff\xff\xff\x07"), R"({"at":"1970-01-01T00:00:03.147483Z"})");
  EXPECT_EQ(at("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), R"({"at":"1970-01-01T00:00:00.999999Z"})");
}

TEST(Protobuf, TruncatedAndMalformedMessagesAreRefused) {
  EXPECT_EQ(decode("\x12\x05").status().message(), "unexpected EOF");
  EXPECT_EQ(decode("\x08").status().message(), "unexpected EOF");
  EXPECT_FALSE(decode("\x0f").ok());
  EXPECT_FALSE(decode(std::string_view("\x00\x01", 2)).ok());
}

TEST(Protobuf, TheEnvelopeSaysWhatIsInside) {
  const std::string body = std::string("k8s\0", 4) + std::string("\x0a\x09\x0a\x02v1\x12\x03Pod\x12\x02\x08\x01", 15);
  auto envelope = open_protobuf_envelope(body);
  ASSERT_TRUE(envelope.ok()) << envelope.status().message();
  EXPECT_EQ(envelope->api_version, "v1");
  EXPECT_EQ(envelope->kind, "Pod");
  EXPECT_EQ(envelope->raw, "\x08\x01");
  EXPECT_EQ(open_protobuf_envelope(std::string_view("k8s\0bad", 7)).status().message(), "unexpected EOF");
  EXPECT_FALSE(open_protobuf_envelope("{}").ok());
}

}  // namespace
}  // namespace backplane
