#include "schema/schema_test_support.hpp"

namespace backplane {
namespace {

std::string compile_error(std::string_view document) {
  const std::string_view documents[] = {document};
  auto set = SchemaSet::compile(documents);
  return set.ok() ? "" : set.status().message();
}

TEST(SchemaSet, FindsDefinitionsByNameAndByKind) {
  const auto set = compile_documents({kWidgets});
  const Schema* by_name = set->find("test.api.v1.Widget");
  ASSERT_NE(by_name, nullptr);
  EXPECT_EQ(by_name->name(), "test.api.v1.Widget");
  EXPECT_EQ(set->find(GroupVersionKind{"test.example.com", "v1", "Widget"}), by_name);
  EXPECT_EQ(set->find("test.api.v1.None"), nullptr);
  EXPECT_EQ(set->find(GroupVersionKind{"test.example.com", "v2", "Widget"}), nullptr);
  EXPECT_EQ(set->kinds(), (std::vector<GroupVersionKind>{{"test.example.com", "v1", "Widget"}}));
}

TEST(SchemaSet, ImportsTheMetaSchemas) {
  const auto set = compile_documents({kWidgets});
  EXPECT_NE(set->find("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"), nullptr);
  EXPECT_NE(set->find(GroupVersionKind{"autoscaling", "v1", "Scale"}), nullptr);
}

TEST(SchemaSet, TheMetaSchemasAreWellFormed) {
  const Status status = meta_schemas()->check();
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST(SchemaSet, WalksPropertiesAndItems) {
  const Schema* spec = widget().property("spec");
  ASSERT_NE(spec, nullptr);
  EXPECT_NE(spec->property("file"), nullptr) << "inlined members are the holder's own";
  ASSERT_NE(spec->property("parts"), nullptr);
  ASSERT_NE(spec->property("parts")->items(), nullptr);
  EXPECT_EQ(spec->property("parts")->items()->name(), "test.api.v1.Part");
  EXPECT_EQ(spec->property("none"), nullptr);
}

TEST(SchemaSet, ErrorsNameTheDefinitionAndThePath) {
  EXPECT_EQ(compile_error("[]"), "schema document 1: not a JSON object");
  EXPECT_EQ(compile_error("{}"), "schema document 1: no definitions");
  EXPECT_EQ(compile_error(R"({"definitions": {"a.A": {"type": "thing"}}})"), "schema document 1, a.A: unknown type \"thing\"");
  EXPECT_EQ(compile_error(R"({"definitions": {"a.A": {}, "a.A": {}}})"), "schema document 1, a.A: defined twice");
  EXPECT_EQ(compile_error(R"({"definitions": {"a.A": {"type": "object", "properties": {"b": {"$ref": "#/definitions/x"}}}}})"),
            "schema: a.A.properties.b: there is no definition x");
  EXPECT_EQ(compile_error(R"({"definitions": {"a.A": {"type": "object", "properties": {"b": {"type": "array"}}}}})"),
            "schema: a.A.properties.b: an array needs items");
  EXPECT_EQ(compile_error(R"({"definitions": {"a.A": {"type": "object", "properties": {"b": 5}}}})"),
            "schema: a.A.properties.b: not a schema object");
}

TEST(SchemaSet, EmbeddedDocumentsAreCheckedWhenAskedOrUsed) {
  static constexpr std::string_view kDocument =
      R"({"definitions": {"a.A": {"type": "object", "properties": {"b": {"$ref": "#/definitions/x"}}}, "a.B": {"type": "object"}}})";
  auto set = SchemaSet::embedded(std::span(&kDocument, 1));
  ASSERT_TRUE(set.ok());
  EXPECT_EQ((*set)->check().message(), "schema: a.A.properties.b: there is no definition x");
  Value value = Object();
  EXPECT_EQ((*set)->find("a.A")->normalize(value, nullptr).reason(), Reason::kInternalError);
  EXPECT_TRUE((*set)->find("a.B")->normalize(value, nullptr).ok());
}

TEST(SchemaSet, CompiledDocumentsOutliveTheirTexts) {
  auto text = std::make_unique<std::string>(kWidgets);
  const auto set = compile_documents({*text});
  std::fill(text->begin(), text->end(), 'x');
  text.reset();
  Value value = json_of(R"({"spec":{"parts":[]}})");
  EXPECT_TRUE(set->find("test.api.v1.Widget")->normalize(value, nullptr).ok());
}

TEST(SchemaSet, OpenApiShowsADefinitionAndAllItRefersTo) {
  const auto set = compile_documents({kWidgets});
  Object components;
  set->openapi_components("test.api.v1.Widget", components);
  EXPECT_TRUE(components.contains("test.api.v1.Part"));
  EXPECT_TRUE(components.contains("io.k8s.apimachinery.pkg.apis.meta.v1.Time"));
  EXPECT_FALSE(components.contains("test.api.v1.Source")) << "inlined definitions are no components";
  EXPECT_EQ(to_json(components.at("test.api.v1.Part")),
            R"({"type":"object","required":["name"],"properties":{"name":{"type":"string","default":""},)"
            R"("image":{"type":"string"},"protocol":{"type":"string","default":"TCP"}}})");
  const Object& spec = components.at("test.api.v1.WidgetSpec").as_object().at("properties").as_object();
  EXPECT_EQ(to_json(spec.at("file")), R"({"allOf":[{"$ref":"#/components/schemas/test.api.v1.File"}]})");
}

TEST(SchemaSet, ACustomTypeIsReadWhenItIsFirstUsed) {
  int asked = 0;
  const GroupVersionKind kind{"example.com", "v1", "Widget"};
  const auto set = SchemaSet::custom(kind, "com.example.v1.Widget", [&asked] {
    ++asked;
    return SharedBytes(std::string(R"({"type":"object","properties":{"size":{"type":"integer","default":3}}})"));
  });
  const Schema* schema = set->find(kind);
  ASSERT_NE(schema, nullptr);
  EXPECT_EQ(set->find("com.example.v1.Widget"), schema);
  EXPECT_TRUE(schema->structural());
  EXPECT_EQ(schema->name(), "com.example.v1.Widget");
  EXPECT_EQ(asked, 0);
  Value value = json::parse(R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"},"other":1})");
  EXPECT_TRUE(schema->normalize(value, nullptr).ok());
  schema->apply_defaults(value);
  EXPECT_EQ(to_json(value), R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"},"size":3})");
  EXPECT_EQ(asked, 1) << "compiled once";
}

TEST(SchemaSet, OpenApiShowsTheMembersThatACustomTypeOmits) {
  const GroupVersionKind kind{"example.com", "v1", "Widget"};
  const auto set = SchemaSet::custom(kind, "com.example.v1.Widget", [] {
    return SharedBytes::from_static(R"({"type":"object","properties":{"kind":{"type":"string"}}})");
  });
  Object components;
  set->openapi_components("com.example.v1.Widget", components);
  const Object& shown = components.at("com.example.v1.Widget").as_object();
  EXPECT_EQ(to_json(shown.at("x-kubernetes-group-version-kind")), R"([{"group":"example.com","kind":"Widget","version":"v1"}])");
  const Object& properties = shown.at("properties").as_object();
  EXPECT_TRUE(properties.contains("apiVersion"));
  EXPECT_EQ(to_json(properties.at("metadata").at("allOf")),
            R"([{"$ref":"#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}])");
  EXPECT_TRUE(components.contains("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"));
  EXPECT_TRUE(properties.at("kind").as_object().contains("description")) << "these are the server's, whatever the schema says of them";
}

TEST(SchemaSet, OptionsOfEveryGroupCarryTheDocumentsGroup) {
  Object components;
  const GroupVersion apps{"apps", "v1"};
  meta_schemas()->openapi_components("io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent", components, &apps);
  const Object& event = components.at("io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent").as_object();
  EXPECT_EQ(to_json(event.at("x-kubernetes-group-version-kind")),
            R"([{"group":"","kind":"WatchEvent","version":"v1"},{"group":"apps","kind":"WatchEvent","version":"v1"}])");
}

}  // namespace
}  // namespace backplane
