#include <gtest/gtest.h>

#include "engine/codec.hpp"

namespace backplane {
namespace {

const Schema* thing() {
  static const auto set = [] {
    const std::string_view documents[] = {R"({"definitions":{"io.k8s.api.core.v1.Thing":{
      "x-backplane-hidden-annotations":["old.member","old.other"],
      "x-kubernetes-group-version-kind":[{"group":"","kind":"Thing","version":"v1"}],"type":"object","properties":{
      "TypeMeta":{"allOf":[{"$ref":"#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.TypeMeta"}],"x-backplane-inline":true},
      "metadata":{"allOf":[{"$ref":"#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}],"default":{},"x-backplane-proto":1}}}}})"};
    return *SchemaSet::compile(documents);
  }();
  return set->find(GroupVersionKind{"", "v1", "Thing"});
}

std::shared_ptr<ObjectEntry> entry(const std::string& annotations) {
  auto made = std::make_shared<ObjectEntry>();
  made->set_json(SharedBytes(R"({"kind":"Thing","apiVersion":"v1","metadata":{"name":"a")" + annotations + "}}"));
  return made;
}

std::string metadata(const std::string& annotations) {
  std::string out;
  append_metadata_json(out, *entry(annotations), {thing(), true, false});
  return out;
}

constexpr std::string_view kHead = R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a")";

TEST(HiddenAnnotations, AreNoPartOfMetadataAlone) {
  EXPECT_EQ(metadata(R"(,"annotations":{"a":"1","old.member":"7","old.other":"8"},"finalizers":["f"])"),
            std::string(kHead) + R"(,"annotations":{"a":"1"},"finalizers":["f"]}})");
  EXPECT_EQ(metadata(R"(,"annotations":{"old.member":"7"})"), std::string(kHead) + "}}");
  EXPECT_EQ(metadata(R"(,"labels":{"old.member":"7"},"annotations":{"b":"1"})"),
            std::string(kHead) + R"(,"labels":{"old.member":"7"},"annotations":{"b":"1"}}})");
}

TEST(HiddenAnnotations, AreInTheObject) {
  const auto object = entry(R"(,"annotations":{"old.member":"7"})");
  for (const Codec* codec : {&json_codec(), &protobuf_codec(), &cbor_codec()}) {
    std::vector<SharedBytes> whole;
    ASSERT_TRUE(codec->object({thing(), false, false}, *object, whole).ok());
    std::string text;
    for (const SharedBytes& piece : whole) text.append(piece.view());
    EXPECT_NE(text.find("old.member"), std::string::npos) << codec->name();
  }
}

class Sink final : public ItemSink {
 private:
  void share(SharedBytes bytes) override { text_.append(bytes.view()); }
};

// Compares, in every encoding of metadata alone, an object with hidden annotations and one without.
TEST(HiddenAnnotations, EveryEncodingLeavesThemOut) {
  const auto having = entry(R"(,"annotations":{"a":"1","old.member":"7"})"), plain = entry(R"(,"annotations":{"a":"1"})");
  for (const Codec* codec : {&json_codec(), &protobuf_codec(), &cbor_codec()}) {
    const Presentation as{thing(), true, false};
    std::string texts[2];
    for (const auto& object : {having, plain}) {
      std::string& text = texts[object == plain];
      std::vector<SharedBytes> pieces;
      ASSERT_TRUE(codec->object(as, *object, pieces).ok());
      ASSERT_TRUE(codec->frame(as, EventType::kModified, *object, pieces).ok());
      for (const SharedBytes& piece : pieces) text.append(piece.view());
      ListMeasure measure;
      Sink sink;
      ASSERT_TRUE(codec->measure(as, *object, measure).ok());
      ASSERT_TRUE(codec->item(as, *object, sink).ok());
      text.append(std::to_string(measure.bytes)).append(sink.text());
    }
    EXPECT_EQ(texts[0], texts[1]) << codec->name();
    EXPECT_EQ(texts[0].find("old.member"), std::string::npos) << codec->name();
  }
}

}  // namespace
}  // namespace backplane
