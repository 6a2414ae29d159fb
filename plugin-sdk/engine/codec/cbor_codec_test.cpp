#include <gtest/gtest.h>

#include "engine/cbor.hpp"
#include "engine/codec.hpp"

namespace backplane {
namespace {

constexpr std::string_view kTag = "\xD9\xD9\xF7";
constexpr std::string_view kJson =
    R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"n","resourceVersion":"5"},"data":{"k":"v"}})";
constexpr std::uint32_t kItemOffset = 38;  // after kind and apiVersion

std::shared_ptr<ObjectEntry> added() {
  auto made = std::make_shared<ObjectEntry>();
  const std::string_view head = json_frame_head(EventType::kAdded);
  made->set_json_in_frame(SharedBytes(std::string(head).append(kJson).append(json_frame_tail())), head.size(), kJson.size(), kItemOffset,
                          EventType::kAdded);
  return made;
}

std::string joined(const std::vector<SharedBytes>& pieces) {
  std::string out;
  for (const SharedBytes& piece : pieces) out.append(piece.view());
  return out;
}

// The JSON of bytes that begin with the tag.
std::string read(std::string_view bytes) {
  EXPECT_TRUE(bytes.starts_with(kTag));
  const auto tree = parse_cbor(bytes, {});
  return tree.ok() ? to_json(*tree) : tree.status().message();
}

std::string frame_of(const Presentation& as, EventType type, const ObjectEntry& object) {
  std::vector<SharedBytes> pieces;
  EXPECT_TRUE(cbor_codec().frame(as, type, object, pieces).ok());
  return joined(pieces);
}

class Sink final : public ItemSink {
  void share(SharedBytes bytes) override { text_.append(bytes.view()); }
};

TEST(CborCodec, IsOfferedIfTheServerOffersCbor) {
  EXPECT_EQ(codecs(false), (std::vector<const Codec*>{&json_codec(), &protobuf_codec()}));
  EXPECT_EQ(codecs(true), (std::vector<const Codec*>{&json_codec(), &protobuf_codec(), &cbor_codec()}));
  EXPECT_EQ(find_codec("cbor"), &cbor_codec());
}

TEST(CborCodec, AnObjectIsOneTaggedItemThatAllReadersShare) {
  const auto object = added();
  std::vector<SharedBytes> first, second;
  ASSERT_TRUE(cbor_codec().object({}, *object, first).ok());
  ASSERT_TRUE(cbor_codec().object({}, *object, second).ok());
  EXPECT_EQ(read(joined(first)), kJson);
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].view().data(), second[0].view().data());
}

TEST(CborCodec, AListHasItsLengthAndItemsWithoutKindAndVersion) {
  const auto object = added();
  ListMeasure measure;
  for (int i = 0; i < 30; ++i) ASSERT_TRUE(cbor_codec().measure({}, *object, measure).ok());
  const auto texts = cbor_codec().list({}, {"ConfigMapList", "v1", 7, "next", 3}, measure);
  ASSERT_TRUE(texts.ok());
  Sink sink;
  sink.text() = texts->head;
  for (int i = 0; i < 30; ++i) ASSERT_TRUE(cbor_codec().item({}, *object, sink).ok());
  const Value list = json::parse(read(sink.text().append(texts->tail)));
  EXPECT_EQ(to_json(list.at("metadata")), R"({"resourceVersion":"7","continue":"next","remainingItemCount":3})");
  ASSERT_EQ(list.at("items").as_array().size(), 30u);
  EXPECT_EQ(to_json(list.at("items").at(29)), R"({"metadata":{"name":"a","namespace":"n","resourceVersion":"5"},"data":{"k":"v"}})");
  const auto none = cbor_codec().list({}, {"ConfigMapList", "v1", 7, "", std::nullopt}, {});
  EXPECT_EQ(read(none->empty), R"({"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[]})");
}

TEST(CborCodec, AnEventHoldsItsObjectWithTheTagAndIsMadeOnceForItsOwnType) {
  const auto object = added();
  const std::string own = frame_of({}, EventType::kAdded, *object);
  EXPECT_EQ(read(own), std::string(R"({"type":"ADDED","object":)").append(kJson).append("}"));
  EXPECT_NE(own.find(kTag, 1), std::string::npos);
  EXPECT_EQ(read(frame_of({}, EventType::kDeleted, *object)), std::string(R"({"type":"DELETED","object":)").append(kJson).append("}"));
}

TEST(CborCodec, MetadataAloneIsWrittenWhateverTheObjectIs) {
  const auto object = added();
  const Presentation as{nullptr, true, false};
  const std::string wanted =
      R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a","namespace":"n","resourceVersion":"5"}})";
  std::vector<SharedBytes> pieces;
  ASSERT_TRUE(cbor_codec().object(as, *object, pieces).ok());
  EXPECT_EQ(read(joined(pieces)), wanted);
  EXPECT_EQ(read(frame_of(as, EventType::kModified, *object)), R"({"type":"MODIFIED","object":)" + wanted + "}");
}

TEST(CborCodec, StoredBytesAreItsOwnByTheTag) {
  const auto stored = cbor_codec().to_stored(nullptr, std::string(kJson));
  ASSERT_TRUE(stored.ok());
  EXPECT_TRUE(cbor_codec().wrote(*stored));
  EXPECT_FALSE(cbor_codec().wrote(kJson));
  EXPECT_EQ(*cbor_codec().from_stored(nullptr, *stored), kJson);
  EXPECT_FALSE(cbor_codec().to_stored(nullptr, "{\"a\":tru").ok());
  EXPECT_FALSE(cbor_codec().from_stored(nullptr, stored->substr(0, 20)).ok());
}

}  // namespace
}  // namespace backplane
