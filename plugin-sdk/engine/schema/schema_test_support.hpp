// A small typed group for the tests of this folder: the forms, omissions and patch keywords of real groups.
#pragma once

#include <gtest/gtest.h>

#include "backplane/types/schema.hpp"

namespace backplane {

inline constexpr std::string_view kWidgets = R"({"definitions": {
  "test.api.v1.Widget": {
    "x-kubernetes-group-version-kind": [{"group": "test.example.com", "kind": "Widget", "version": "v1"}],
    "description": "A widget.", "type": "object", "required": ["spec"],
    "properties": {
      "TypeMeta": {"allOf": [{"$ref": "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.TypeMeta"}], "x-backplane-inline": true},
      "metadata": {"allOf": [{"$ref": "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}], "default": {}},
      "spec": {"allOf": [{"$ref": "#/definitions/test.api.v1.WidgetSpec"}], "default": {}},
      "status": {"allOf": [{"$ref": "#/definitions/test.api.v1.WidgetStatus"}], "default": {}}}},
  "test.api.v1.WidgetSpec": {
    "type": "object",
    "properties": {
      "Source": {"allOf": [{"$ref": "#/definitions/test.api.v1.Source"}], "x-backplane-inline": true},
      "replicas": {"type": "integer", "format": "int32", "default": 1, "x-backplane-pointer": true},
      "count": {"type": "integer", "format": "int64"},
      "ratio": {"type": "number", "format": "double"},
      "mode": {"type": "string", "x-backplane-go-type": "v1.Mode"},
      "parts": {"type": "array", "items": {"default": {}, "allOf": [{"$ref": "#/definitions/test.api.v1.Part"}]},
        "x-backplane-omit": "never", "x-kubernetes-patch-merge-key": "name", "x-kubernetes-patch-strategy": "merge"},
      "tags": {"type": "array", "items": {"type": "string", "default": ""}, "x-kubernetes-patch-strategy": "merge"},
      "plain": {"type": "array", "items": {"type": "string", "default": ""}},
      "limits": {"type": "object", "additionalProperties": {"$ref": "#/definitions/io.k8s.apimachinery.pkg.api.resource.Quantity"},
        "x-backplane-go-type": "v1.ResourceList"},
      "labels": {"type": "object", "additionalProperties": {"type": "string", "default": ""}},
      "port": {"allOf": [{"$ref": "#/definitions/io.k8s.apimachinery.pkg.util.intstr.IntOrString"}]},
      "secret": {"type": "string", "format": "byte"},
      "blobs": {"type": "object", "additionalProperties": {"type": "string", "format": "byte"}},
      "extra": {"allOf": [{"$ref": "#/definitions/io.k8s.apimachinery.pkg.runtime.RawExtension"}], "x-backplane-pointer": true},
      "strategy": {"allOf": [{"$ref": "#/definitions/test.api.v1.Strategy"}], "default": {}, "x-kubernetes-patch-strategy": "retainKeys"}}},
  "test.api.v1.Source": {
    "type": "object",
    "properties": {"file": {"allOf": [{"$ref": "#/definitions/test.api.v1.File"}], "x-backplane-pointer": true}}},
  "test.api.v1.File": {"type": "object", "properties": {"readOnly": {"type": "boolean"}}},
  "test.api.v1.Strategy": {"type": "object", "properties": {"type": {"type": "string"}, "rolling": {"type": "string"}}},
  "test.api.v1.Part": {
    "type": "object", "required": ["name"],
    "properties": {
      "name": {"type": "string", "default": "", "x-backplane-omit": "never"},
      "image": {"type": "string"},
      "protocol": {"type": "string", "default": "TCP"}}},
  "test.api.v1.WidgetStatus": {
    "type": "object",
    "properties": {
      "seen": {"allOf": [{"$ref": "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.Time"}]},
      "shaped": {"$ref": "#/definitions/test.api.v1.Shaped", "x-backplane-pointer": true}}},
  "test.api.v1.Shaped": {
    "x-backplane-shape": {"object": {"$ref": "#/definitions/test.api.v1.Part"}, "boolean": {"type": "boolean"}}}
}})";

// The widget group, compiled; the test fails if it does not compile.
inline std::shared_ptr<const SchemaSet> compile_documents(std::initializer_list<std::string_view> documents) {
  auto set = SchemaSet::compile(std::span(documents.begin(), documents.size()));
  EXPECT_TRUE(set.ok()) << set.status().message();
  return set.ok() ? *set : nullptr;
}

inline const Schema& widget() {
  static const auto set = compile_documents({kWidgets});
  return *set->find(GroupVersionKind{"test.example.com", "v1", "Widget"});
}

inline Value json_of(std::string_view text) {
  auto value = parse_json(text, {}, nullptr);
  EXPECT_TRUE(value.ok()) << value.status().message();
  return value.ok() ? std::move(*value) : Value();
}

// The schema document of a custom resource with this schema.
inline std::string structural_document(std::string_view schema) {
  return R"({"x-backplane-mode": "structural", "definitions": {"Foo": )" + std::string(schema) + "}}";
}

}  // namespace backplane
