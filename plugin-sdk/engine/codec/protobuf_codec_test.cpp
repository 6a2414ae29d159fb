#include <gtest/gtest.h>

#include <map>

#include "engine/codec.hpp"

namespace backplane {
namespace {

using std::string_literals::operator""s;

constexpr std::string_view kJson =
    R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"n","resourceVersion":"5"},"data":{"k":"v"}})";

const Codec& protobuf() { return protobuf_codec(); }

const Schema* config_map() {
  static const auto maps = [] {
    const std::string_view documents[] = {R"({"definitions":{"io.k8s.api.core.v1.ConfigMap":{
      "x-kubernetes-group-version-kind":[{"group":"","kind":"ConfigMap","version":"v1"}],"type":"object","properties":{
      "TypeMeta":{"allOf":[{"$ref":"#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.TypeMeta"}],"x-backplane-inline":true},
      "metadata":{"allOf":[{"$ref":"#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}],"default":{},"x-backplane-proto":1},
      "data":{"type":"object","additionalProperties":{"type":"string","default":""},"x-backplane-proto":2}}}}})"};
    auto compiled = SchemaSet::compile(documents);
    EXPECT_TRUE(compiled.ok()) << compiled.status().message();
    return *compiled;
  }();
  return maps->find(GroupVersionKind{"", "v1", "ConfigMap"});
}

const Schema* custom() {
  static const auto set = [] {
    const std::string_view documents[] = {R"({"x-backplane-mode":"structural","definitions":{"Foo":{"type":"object"}}})"};
    return *SchemaSet::compile(documents);
  }();
  return set->find(std::string_view("Foo"));
}

std::shared_ptr<ObjectEntry> entry(std::string_view json = kJson) {
  auto made = std::make_shared<ObjectEntry>();
  made->set_json(SharedBytes(std::string(json)));
  return made;
}

std::shared_ptr<ObjectEntry> added() {
  auto made = std::make_shared<ObjectEntry>();
  const std::string_view head = json_frame_head(EventType::kAdded);
  made->set_json_in_frame(SharedBytes(std::string(head).append(kJson).append(json_frame_tail())), head.size(), kJson.size(), 0,
                          EventType::kAdded);
  return made;
}

std::string joined(const std::vector<SharedBytes>& pieces) {
  std::string out;
  for (const SharedBytes& piece : pieces) out.append(piece.view());
  return out;
}

std::string body_of(const Presentation& as, const ObjectEntry& object) {
  std::vector<SharedBytes> pieces;
  const Status status = protobuf().object(as, object, pieces);
  EXPECT_TRUE(status.ok()) << status.message();
  return joined(pieces);
}

std::string frame_of(const Presentation& as, EventType type, const ObjectEntry& object) {
  std::vector<SharedBytes> pieces;
  const Status status = protobuf().frame(as, type, object, pieces);
  EXPECT_TRUE(status.ok()) << status.message();
  return joined(pieces);
}

class Sink final : public ItemSink {
 public:
  int shared = 0;

 private:
  void share(SharedBytes bytes) override {
    text_.append(bytes.view());
    ++shared;
  }
};

// The fields of one message: number → value of the last one with it.
std::map<int, std::string> fields(std::string_view message) {
  std::map<int, std::string> out;
  const auto varint = [&] {
    std::uint64_t value = 0;
    for (unsigned shift = 0; !message.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(message.front());
      message.remove_prefix(1);
      value |= std::uint64_t(byte & 0x7F) << shift;
      if (byte < 0x80) break;
    }
    return value;
  };
  while (!message.empty()) {
    const std::uint64_t tag = varint();
    const std::uint64_t value = varint();
    if ((tag & 7) == 0) {
      out[static_cast<int>(tag >> 3)] = std::to_string(value);
    } else {
      out[static_cast<int>(tag >> 3)] = std::string(message.substr(0, value));
      message.remove_prefix(std::min<std::size_t>(value, message.size()));
    }
  }
  return out;
}

std::map<int, std::string> envelope(std::string_view body) {
  EXPECT_TRUE(body.starts_with("k8s\0"s));
  EXPECT_TRUE(body.ends_with("\x1a\0\x22\0"s));
  return fields(body.substr(4));
}

TEST(ProtobufCodec, AnObjectIsWrappedInItsEnvelope) {
  const auto object = entry();
  const auto outer = envelope(body_of({config_map(), false, false}, *object));
  EXPECT_EQ(outer.at(1),
            "\x0a\x02v1\x12\x09"
            "ConfigMap"s);
  std::string message;
  ASSERT_TRUE(config_map()->encode_protobuf(kJson, message).ok());
  EXPECT_EQ(outer.at(2), message);
}

TEST(ProtobufCodec, TheFormIsMadeOnceAndSharedByObjectsAndFrames) {
  const auto object = added();
  std::vector<SharedBytes> first, second, frame;
  const Presentation as{config_map(), false, false};
  ASSERT_TRUE(protobuf().object(as, *object, first).ok());
  ASSERT_TRUE(protobuf().object(as, *object, second).ok());
  ASSERT_TRUE(protobuf().frame(as, EventType::kAdded, *object, frame).ok());
  EXPECT_EQ(first.front().view().data(), second.front().view().data());
  ASSERT_EQ(frame.size(), 1u);
  EXPECT_TRUE(frame.front().view().ends_with(first.front().view()));
  EXPECT_EQ(frame.front().view().data() + frame.front().size(), first.front().view().data() + first.front().size());
}

TEST(ProtobufCodec, AFrameIsItsLengthTheTypeAndTheWholeBody) {
  for (const auto& object : {added(), entry()}) {
    for (const auto& [type, name] : {std::pair(EventType::kAdded, "ADDED"), std::pair(EventType::kModified, "MODIFIED")}) {
      const std::string frame = frame_of({config_map(), false, false}, type, *object);
      const std::string length = {'\0', '\0', static_cast<char>((frame.size() - 4) >> 8), static_cast<char>(frame.size() - 4)};
      EXPECT_EQ(frame.substr(0, protobuf().frame_prefix()), length);
      const auto event = fields(std::string_view(frame).substr(4));
      EXPECT_EQ(event.at(1), name);
      EXPECT_EQ(fields(event.at(2)).at(1), body_of({config_map(), false, false}, *object));
    }
  }
}

TEST(ProtobufCodec, AListSaysItsSizeBeforeItsItems) {
  const Presentation as{config_map(), false, false};
  const auto object = entry();
  ListMeasure measure;
  Sink sink;
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(protobuf().measure(as, *object, measure).ok());
    ASSERT_TRUE(protobuf().item(as, *object, sink).ok());
  }
  EXPECT_EQ(measure.items, 2u);
  EXPECT_EQ(measure.bytes, sink.text().size());
  ListFacts facts{"ConfigMapList", "v1", 7, "more", 3};
  const auto texts = protobuf().list(as, facts, measure);
  ASSERT_TRUE(texts.ok());
  const auto outer = envelope(texts->head + sink.text() + texts->tail);
  const auto list = fields(outer.at(2));
  EXPECT_EQ(list.at(1),
            "\x0a\0\x12\x01"
            "7\x1a\x04more\x20\x03"s);
  std::string message;
  ASSERT_TRUE(config_map()->encode_protobuf(kJson, message).ok());
  EXPECT_EQ(list.at(2), message);
}

TEST(ProtobufCodec, AnEmptyListIsWhole) {
  const auto texts = protobuf().list({config_map(), false, false}, {"ConfigMapList", "v1", 7, "", {}}, {});
  ASSERT_TRUE(texts.ok());
  EXPECT_EQ(fields(envelope(texts->empty).at(2)).at(1),
            "\x0a\0\x12\x01"
            "7\x1a\0"s);
}

TEST(ProtobufCodec, MetadataOnlyIsTheFirstFieldOfWhatIsThere) {
  const auto object = entry();
  const auto outer = envelope(body_of({config_map(), true, false}, *object));
  EXPECT_EQ(outer.at(1), "\x0a\x0emeta.k8s.io/v1\x12\x15PartialObjectMetadata"s);
  std::string message;
  ASSERT_TRUE(config_map()->encode_protobuf(kJson, message).ok());
  EXPECT_EQ(fields(outer.at(2)), (std::map<int, std::string>{{1, fields(message).at(1)}}));
}

TEST(ProtobufCodec, TheBetaListOfMetadataHasItsItemsFirst) {
  const Presentation as{config_map(), true, true};
  const auto object = entry();
  ListMeasure measure;
  Sink sink;
  ASSERT_TRUE(protobuf().measure(as, *object, measure).ok());
  ASSERT_TRUE(protobuf().item(as, *object, sink).ok());
  const auto texts = protobuf().list(as, {"PartialObjectMetadataList", "meta.k8s.io/v1beta1", 7, "", {}}, measure);
  ASSERT_TRUE(texts.ok());
  const auto list = fields(envelope(texts->head + sink.text() + texts->tail).at(2));
  EXPECT_EQ(list.at(2),
            "\x0a\0\x12\x01"
            "7\x1a\0"s);
  EXPECT_TRUE(fields(list.at(1)).contains(1));
}

TEST(ProtobufCodec, CustomResourcesHaveOnlyTheirMetadataInIt) {
  const auto object = entry(R"({"apiVersion":"e.com/v1","kind":"Foo","metadata":{"generation":1,"name":"f"},"spec":{"a":1}})");
  EXPECT_FALSE(protobuf().can_write({custom(), false, false}));
  EXPECT_FALSE(protobuf().can_write({nullptr, false, false}));
  const Presentation as{custom(), true, false};
  ASSERT_TRUE(protobuf().can_write(as));
  const auto metadata = fields(fields(envelope(body_of(as, *object)).at(2)).at(1));
  EXPECT_EQ(metadata.at(1), "f");
  EXPECT_EQ(metadata.at(7), "1");
  std::vector<SharedBytes> pieces;
  EXPECT_EQ(protobuf().object({custom(), false, false}, *entry(), pieces).reason(), Reason::kNotAcceptable);
}

TEST(ProtobufCodec, TheStoredFormIsReadAsItWasWritten) {
  const auto stored = protobuf().to_stored(config_map(), std::string(kJson));
  ASSERT_TRUE(stored.ok());
  EXPECT_TRUE(protobuf().wrote(*stored));
  EXPECT_FALSE(json_codec().wrote(*stored));
  EXPECT_EQ(*protobuf().from_stored(config_map(), *stored), kJson);
  EXPECT_EQ(protobuf().from_stored(config_map(), stored->substr(0, 20)).status().reason(), Reason::kInternalError);
  EXPECT_EQ(*protobuf().to_stored(custom(), "{}"), "{}") << "custom resources are stored as JSON";
}

}  // namespace
}  // namespace backplane
