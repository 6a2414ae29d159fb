#include "app/plugin_import.hpp"

#include <gtest/gtest.h>

#include "app/plugin_crd.hpp"
#include "app/plugin_openapi.hpp"
#include "backplane/core/json_access.hpp"

namespace backplane {
namespace {

constexpr std::string_view kCrd = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: crontabs.stable.example.com
spec:
  group: stable.example.com
  scope: Cluster
  names: {plural: crontabs, singular: crontab, kind: CronTab, shortNames: [ct], categories: [all]}
  versions:
  - name: v1beta1
    served: true
    storage: false
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object}}}}
  - name: v1
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}
    additionalPrinterColumns:
    - {name: Spec, type: string, jsonPath: .spec.cronSpec}
    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
    selectableFields: [{jsonPath: .spec.cronSpec}]
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [cronSpec, code, when]
            x-kubernetes-validations: [{rule: "self.replicas < 10"}]
            properties:
              cronSpec: {type: string, pattern: '^(\d+|\*)(/\d+)?(\s+(\d+|\*)(/\d+)?){4}$', default: "0 0 * * *"}
              code: {type: string, pattern: '^zz[0-9]{9}$'}
              when: {type: string, format: date-time}
              size: {type: string, format: quantity}
              replicas: {type: integer, minimum: 1}
          status: {type: object, properties: {replicas: {type: integer}}}
)";

Object parsed(const ImportedPlugin& plugin, const std::string& file) { return json::parse(plugin.files.at(file)).get_object(); }

ImportedPlugin from_crd(std::string_view yaml) {
  auto kind = kind_of_crd(yaml, "");
  EXPECT_TRUE(kind.ok()) << kind.status().message();
  auto plugin = plugin_of("crontabs", std::move(*kind));
  EXPECT_TRUE(plugin.ok()) << plugin.status().message();
  return std::move(*plugin);
}

std::string with(std::string_view old, std::string_view now) {
  std::string text(kCrd);
  text.replace(text.find(old), old.size(), now);
  return text;
}

TEST(PluginOfCrd, TheGroupDocumentHasTheFactsOfTheDefinition) {
  const ImportedPlugin plugin = from_crd(kCrd);
  EXPECT_EQ(
      to_json(parsed(plugin, "group.json")),
      R"({"group":"stable.example.com","versions":[{"name":"v1"},{"name":"v1beta1"}],"kinds":[{"resource":"crontabs","kind":"CronTab",)"
      R"("storagePrefix":"stable.example.com/crontabs","shortNames":["ct"],"categories":["all"],"namespaced":false,)"
      R"("unconditionalUpdate":false,"generation":true,"status":true,)"
      R"("scale":{"specReplicas":"spec.replicas","statusReplicas":"status.replicas","selector":""},"selectable":["spec.cronSpec"],)"
      R"("columns":["name",{"name":"Spec","type":"string","description":"Custom resource definition column (in JSONPath format): .spec.cronSpec",)"
      R"("path":".spec.cronSpec","absent":null},{"name":"Age","type":"date","description":"Custom resource definition column (in JSONPath )"
      R"(format): .metadata.creationTimestamp","path":".metadata.creationTimestamp","print":"since"}],"sameForm":true,)"
      R"("versions":["v1","v1beta1"]}]})");
  EXPECT_NE(plugin.files.at("CMakeLists.txt").find("GROUP group.json SCHEMAS crontabs_v1.json crontabs_v1beta1.json)"), std::string::npos);
  EXPECT_EQ(get_string(parsed(plugin, "plugin.json"), "name"), "example.com/crontabs");
}

TEST(PluginOfCrd, KeywordsThatAPluginDoesNotEnforceAreLeftOutWithANote) {
  const ImportedPlugin plugin = from_crd(kCrd);
  const std::string types = plugin.files.at("crontabs_v1.json");
  EXPECT_EQ(types.find("x-kubernetes-validations"), std::string::npos);
  EXPECT_EQ(types.find("quantity"), std::string::npos);
  EXPECT_NE(types.find("date-time"), std::string::npos);
  std::string notes;
  for (const std::string& note : plugin.notes) notes += note + "\n";
  EXPECT_NE(notes.find("crontabs_v1.json: left out: /definitions/com.example.stable.v1.CronTab/properties/spec/x-kubernetes-validations: "),
            std::string::npos)
      << notes;
  EXPECT_NE(notes.find("properties/size/format"), std::string::npos) << notes;
}

TEST(PluginOfCrd, TheExampleHasTheRequiredMembersAndANoteNamesWhatItCannotGuess) {
  const ImportedPlugin plugin = from_crd(kCrd);
  const std::string& example = plugin.files.at("example.yaml");
  EXPECT_NE(example.find("apiVersion: stable.example.com/v1\n"), std::string::npos) << example;
  EXPECT_NE(example.find("---\napiVersion: stable.example.com/v1beta1\n"), std::string::npos) << example;
  EXPECT_NE(example.find("2026-01-01T00:00:00Z"), std::string::npos) << example;
  EXPECT_NE(example.find("0 0 * * *"), std::string::npos) << example;
  ASSERT_FALSE(plugin.notes.empty());
  EXPECT_TRUE(plugin.notes.back().starts_with("example.yaml: spec.code: Invalid value: \"a\": spec.code in body should match"))
      << plugin.notes.back();
}

TEST(PluginOfCrd, WhatAPluginCannotServeIsRefused) {
  const auto refusal = [](const std::string& yaml) { return kind_of_crd(yaml, "").status().message(); };
  EXPECT_NE(refusal(with("scope: Cluster", "scope: Cluster\n  conversion: {strategy: Webhook}")).find("spec.conversion.strategy: Webhook"),
            std::string::npos);
  EXPECT_EQ(refusal(with("served: true\n    storage: true", "served: false\n    storage: true")),
            "spec.versions: the stored version v1 is not served; a plugin serves it");
  EXPECT_EQ(refusal(with("storage: true", "storage: false")), "spec.versions: no version has storage: true");
  EXPECT_EQ(refusal(with("apiextensions.k8s.io/v1", "apiextensions.k8s.io/v1beta1")),
            "the file has no CustomResourceDefinition of apiextensions.k8s.io/v1");
  EXPECT_EQ(refusal(std::string(kCrd) + "---" + std::string(kCrd)), "the file has 2 CustomResourceDefinitions; choose one with --kind");
  EXPECT_FALSE(kind_of_crd("{", "").ok());
}

constexpr std::string_view kOpenApi = R"({
  "paths": {"/apis/shop.example.com/v1/namespaces/{namespace}/shelves/{name}": {"get": {"x-kubernetes-group-version-kind":
              {"group": "shop.example.com", "version": "v1", "kind": "Shelf"}}},
            "/apis/shop.example.com/v1/namespaces/{namespace}/shelves/{name}/status": {"get": {}}},
  "components": {"schemas": {
    "com.example.shop.v1.Shelf": {
      "type": "object", "x-kubernetes-group-version-kind": [{"group": "shop.example.com", "version": "v1", "kind": "Shelf"}],
      "properties": {"metadata": {"allOf": [{"$ref": "#/components/schemas/io.k8s.ObjectMeta"}], "default": {}},
                     "spec": {"allOf": [{"$ref": "#/components/schemas/com.example.shop.v1.ShelfSpec"}], "default": {}, "description": "Wanted."}}},
    "com.example.shop.v1.ShelfSpec": {"type": "object", "description": "A spec.", "required": ["boxes"],
      "properties": {"boxes": {"type": "integer", "format": "int32"}}},
    "com.example.shop.v1.Tree": {
      "type": "object", "x-kubernetes-group-version-kind": [{"group": "shop.example.com", "version": "v1", "kind": "Tree"}],
      "properties": {"left": {"$ref": "#/components/schemas/com.example.shop.v1.Tree"}, "right": {"$ref": "#/components/schemas/com.example.shop.v1.Tree"}}}}}})";

TEST(PluginOfOpenApi, TheTypeHasNoReferencesAndThePathsGiveTheResource) {
  auto kind = kind_of_openapi(kOpenApi, "Shelf", "");
  ASSERT_TRUE(kind.ok()) << kind.status().message();
  EXPECT_EQ(kind->resource, "shelves");
  EXPECT_EQ(kind->group, "shop.example.com");
  EXPECT_EQ(get_bool(kind->facts, "status"), true);
  const auto plugin = plugin_of("shelves", std::move(*kind));
  ASSERT_TRUE(plugin.ok()) << plugin.status().message();
  const Object types = parsed(*plugin, "shelves.json");
  const Object& type = object_or_empty(object_or_empty(types, "definitions"), "com.example.shop.v1.Shelf");
  const Object& spec = object_or_empty(object_or_empty(type, "properties"), "spec");
  EXPECT_EQ(get_string(spec, "description"), "Wanted.");
  EXPECT_EQ(get_string_path(spec, "properties.boxes.type"), "integer");
  EXPECT_EQ(types.contains("$ref"), false);
}

TEST(PluginOfOpenApi, ATypeThatContainsItselfIsRefused) {
  EXPECT_EQ(kind_of_openapi(kOpenApi, "Tree", "").status().message(),
            "#/components/schemas/com.example.shop.v1.Tree contains itself, which structural schemas cannot express");
  EXPECT_EQ(kind_of_openapi(kOpenApi, "Bush", "").status().message(),
            "components.schemas has no type with the x-kubernetes-group-version-kind Bush");
}

}  // namespace
}  // namespace backplane
