#include "custom_resource.hpp"

#include <gtest/gtest.h>

#include "converter.hpp"
#include "custom_strategy.hpp"

namespace backplane::apiextensions {
namespace {

std::shared_ptr<const CustomResource> resource() {
  const Object crd = json::parse(R"({"spec":{"group":"mv.example.com","scope":"Namespaced","names":{"plural":"things","kind":"Thing"},
    "versions":[{"name":"v1alpha1","served":true,"storage":false,"deprecated":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"a":{"type":"string"}}}}},
      {"name":"v1","served":true,"storage":true,"subresources":{"status":{},"scale":{"specReplicasPath":".spec.size","statusReplicasPath":".status.replicas"}},
       "selectableFields":[{"jsonPath":".spec.color"}],
       "schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","required":["size"],"properties":{
         "size":{"type":"integer","maximum":10},"color":{"type":"string","default":"red"}}},
         "status":{"type":"object","properties":{"replicas":{"type":"integer"}}}}}}},
      {"name":"v2beta1","served":false,"storage":false,"schema":{"openAPIV3Schema":{"type":"object"}}}]},
    "status":{"acceptedNames":{"plural":"things","singular":"thing","kind":"Thing","listKind":"ThingList"}}})")
                         .as_object();
  auto read = read_resource(crd, std::make_shared<SchemaSource>(make_object(crd)));
  EXPECT_TRUE(read.ok()) << read.status().message();
  return *read;
}

Object thing(const std::string& rest, const std::string& version = "v1") {
  return json::parse(R"({"apiVersion":"mv.example.com/)" + version + R"(","kind":"Thing","metadata":{"name":"t"})" + rest + "}")
      .as_object();
}

ObjectEntry entry(const std::string& text, Revision revision) {
  ObjectEntry entry;
  entry.name = "t";
  entry.revision = revision;
  entry.set_json(SharedBytes(text));
  return entry;
}

TEST(CustomResourceTest, ReadsTheVersionsThatMatter) {
  const auto read = resource();
  EXPECT_EQ(read->versions.size(), 2u);
  EXPECT_EQ(read->stored().kind.version, "v1");
  EXPECT_EQ(read->find("v1alpha1")->deprecation_warning, "mv.example.com/v1alpha1 Thing is deprecated; use mv.example.com/v1 Thing");
  EXPECT_EQ(read->find("v2beta1"), nullptr);
  ASSERT_EQ(read->fields().size(), 1u);
  EXPECT_EQ(read->fields()[0].label, "spec.color");
}

TEST(CustomResourceTest, ValidatesAgainstTheSchemaAndTheScale) {
  const auto read = resource();
  FieldErrors errors;
  validate_custom(read->stored(), thing(R"(,"spec":{"size":11})"), errors);
  EXPECT_EQ(errors.aggregate_message(), "spec.size: Invalid value: 11: spec.size in body should be less than or equal to 10");
  FieldErrors scale;
  validate_custom(read->stored(), thing(R"(,"spec":{"size":"x"})"), scale);
  EXPECT_NE(
      scale.aggregate_message().find(".spec.size: Invalid value: 0: .spec.size accessor error: x is of the type string, expected int64"),
      std::string::npos)
      << scale.aggregate_message();
}

TEST(CustomResourceTest, WhatWasWrongBeforeIsLetThrough) {
  const auto read = resource();
  FieldErrors errors;
  const Object old = thing(R"(,"spec":{"size":11})");
  validate_custom_update(read->stored(), thing(R"(,"spec":{"size":11,"color":"blue"})"), old, errors);
  EXPECT_TRUE(errors.empty());
  validate_custom_update(read->stored(), thing(R"(,"spec":{"size":12})"), old, errors);
  EXPECT_EQ(errors.size(), 1u);
}

TEST(CustomStrategyTest, ContentRaisesTheGenerationAndMetadataDoesNot) {
  const auto strategy = make_custom_strategy(resource());
  RequestContext context;
  Object old = thing(R"(,"spec":{"size":1},"status":{"replicas":1})");
  ObjectMeta(old).set_generation(4);
  Object labelled = thing(R"(,"spec":{"size":1},"status":{"replicas":9})");
  ObjectMeta(labelled).set_generation(4);
  strategy->prepare_for_update(context, labelled, old);
  EXPECT_EQ(get_int_path(labelled, "metadata.generation"), 4);
  EXPECT_EQ(get_int_path(labelled, "status.replicas"), 1);
  Object changed = thing(R"(,"spec":{"size":2})");
  strategy->prepare_for_update(context, changed, old);
  EXPECT_EQ(get_int_path(changed, "metadata.generation"), 5);
}

TEST(CustomStrategyTest, TheStatusSubresourceChangesNothingElse) {
  const auto strategy = make_custom_status_strategy(resource());
  RequestContext context;
  const Object old = thing(R"(,"spec":{"size":1})");
  Object object = thing(R"(,"spec":{"size":9},"status":{"replicas":2})");
  strategy->prepare_for_update(context, object, old);
  EXPECT_EQ(get_int_path(object, "spec.size"), 1);
  EXPECT_EQ(get_int_path(object, "status.replicas"), 2);
}

TEST(CustomStrategyTest, WarnsOfFinalizersWithoutADomain) {
  const auto strategy = make_custom_strategy(resource());
  Object object = thing("");
  ObjectMeta(object).set_finalizers({"nodomain", "a.b", "example.com/x", "orphan"});
  EXPECT_EQ(
      strategy->warnings(object, nullptr),
      (std::vector<std::string>{
          R"(metadata.finalizers: "a.b": prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers)",
          R"(metadata.finalizers: "nodomain": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers)"}));
  EXPECT_TRUE(strategy->warnings(object, &object).empty());
}

TEST(ConverterTest, SharesEntriesThatAreInTheRightFormAndConvertsOthers) {
  const auto read = resource();
  const Converter stored(read, read->stored(), 0);
  const Converter alpha(read, *read->find("v1alpha1"), 0);
  const ObjectEntry one =
      entry(R"({"apiVersion":"mv.example.com/v1","kind":"Thing","metadata":{"name":"t","resourceVersion":"7"},"spec":{"size":1}})", 7);
  EXPECT_TRUE(stored.is_shown(one));
  EXPECT_FALSE(alpha.is_shown(one));
  const auto converted = alpha.converted(one);
  ASSERT_TRUE(converted.ok()) << converted.status().message();
  EXPECT_EQ((*converted)->json().view(),
            R"({"apiVersion":"mv.example.com/v1alpha1","kind":"Thing","metadata":{"name":"t","resourceVersion":"7"}})");
  EXPECT_EQ((*converted)->revision, 7);
}

TEST(ConverterTest, ObjectsFromBeforeAChangeOfTheDefinitionGetItsDefaults) {
  const auto read = resource();
  const Converter converter(read, read->stored(), 7);
  const std::string text =
      R"({"apiVersion":"mv.example.com/v1","kind":"Thing","metadata":{"name":"t","resourceVersion":"7"},"old":1,"spec":{"size":1}})";
  EXPECT_FALSE(converter.is_shown(entry(text, 7)));
  EXPECT_TRUE(converter.is_shown(entry(text, 8)));
  const auto shown = converter.converted(entry(text, 7));
  ASSERT_TRUE(shown.ok());
  EXPECT_EQ(
      (*shown)->json().view(),
      R"({"apiVersion":"mv.example.com/v1","kind":"Thing","metadata":{"name":"t","resourceVersion":"7"},"spec":{"color":"red","size":1}})");
}

TEST(CustomSchemaTest, NamesTypesAsOpenApiDoes) { EXPECT_EQ(definition_name({"cr.example.com", "v1", "Foo"}), "com.example.cr.v1.Foo"); }

}  // namespace
}  // namespace backplane::apiextensions
