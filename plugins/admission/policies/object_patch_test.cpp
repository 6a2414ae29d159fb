#include "policies/object_patch.hpp"

#include <gtest/gtest.h>

#include "engine/raw_json.hpp"

namespace backplane::admission::policies {
namespace {

ObjectForm widgets() {
  static const auto kSchemas = SchemaSet::custom({"example.com", "v1", "Widget"}, "com.example.v1.Widget", [] {
    return SharedBytes(std::string(
        R"({"type":"object","properties":{"spec":{"type":"object","properties":{"size":{"type":"integer","default":3},)"
        R"("ports":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],"items":{"type":"object",)"
        R"("required":["name"],"properties":{"name":{"type":"string"},"port":{"type":"integer"}}}},)"
        R"("args":{"type":"array","items":{"type":"string"}},)"
        R"("selector":{"type":"object","x-kubernetes-map-type":"atomic","additionalProperties":{"type":"string"}}}}}})"));
  });
  return {{{"example.com", "v1", "Widget"}, kSchemas->find(GroupVersionKind{"example.com", "v1", "Widget"}), nullptr}, true};
}

Object object_of(std::string_view text) { return json::parse(text).get_object(); }

Object widget(std::string_view spec) {
  return object_of(R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":)" + std::string(spec) + "}");
}

std::string spec_of(const Object& object) { return to_json(object.at("spec")); }

TEST(ObjectPatches, MergeConfigurations) {
  Object object = widget(R"({"ports":[{"name":"a","port":1}],"args":["x"]})");
  const PatchError error =
      apply_configuration(object, object_of(R"({"spec":{"ports":[{"name":"b","port":2},{"name":"a","port":3}]}})"), widgets());
  EXPECT_TRUE(error.ok()) << error.text << error.status.message();
  EXPECT_EQ(spec_of(object), R"({"args":["x"],"ports":[{"name":"b","port":2},{"name":"a","port":3}],"size":3})");
}

TEST(ObjectPatches, RefuseAtomicParts) {
  Object object = widget(R"({"selector":{"a":"b"}})");
  const Object before = object;
  EXPECT_EQ(apply_configuration(object, object_of(R"({"spec":{"selector":{"c":"d"},"args":["x"]}})"), widgets()).text,
            "error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.selector, .spec.args");
  EXPECT_EQ(object, before);
}

TEST(ObjectPatches, RefuseUndeclaredParts) {
  Object object = widget("{}");
  EXPECT_EQ(apply_configuration(object, object_of(R"({"spec":{"other":1}})"), widgets()).text,
            "error applying patch: failed to convert patch object to typed object: .spec.other: field not declared in schema");
}

TEST(ObjectPatches, ApplyOperations) {
  Object object = widget(R"({"args":["x"]})");
  const Array operations =
      json::parse(R"([{"op":"add","path":"/spec/args/-","value":"y"},{"op":"test","path":"/spec/args/1","value":"y"}])").get_array();
  EXPECT_TRUE(apply_json_patch(object, operations, widgets()).ok());
  EXPECT_EQ(spec_of(object), R"({"args":["x","y"],"size":3})");
}

TEST(ObjectPatches, AFailedTestChangesNothing) {
  Object object = widget(R"({"args":["x"]})");
  const Array operations = json::parse(R"([{"op":"remove","path":"/spec"},{"op":"test","path":"/kind","value":"y"}])").get_array();
  EXPECT_TRUE(apply_json_patch(object, operations, widgets()).ok());
  EXPECT_EQ(spec_of(object), R"({"args":["x"]})");
}

TEST(ObjectPatches, SayWhyOperationsFail) {
  struct Failure {
    const char *operation, *text;
  };
  const Failure kFailures[] = {
      {R"({"op":"remove","path":"/spec/no"})", "error in remove for path: '/spec/no': Unable to remove nonexistent key: no: missing value"},
      {R"({"op":"add","path":"/a/b","value":1})", "add operation does not apply: doc is missing path: \"/a/b\": missing value"},
      {R"({"op":"add","path":"/spec/args/9","value":"a"})",
       "error in add for path: '/spec/args/9': Unable to access invalid index: 9: invalid index referenced"},
      {R"({"op":"replace","path":"/spec/args/9","value":"a"})",
       "replace operation does not apply: doc is missing key: /spec/args/9: missing value"},
      {R"({"op":"move","from":"/a/b","path":"/c"})", "move operation does not apply: doc is missing from path: /a/b: missing value"},
      {R"({"op":"jump","path":"/c"})", "Unexpected kind: jump"},
  };
  for (const Failure& each : kFailures) {
    Object object = widget(R"({"args":["x"]})");
    const Object before = object;
    EXPECT_EQ(apply_json_patch(object, {json::parse(each.operation)}, widgets()).text, std::string("JSON Patch: ") + each.text);
    EXPECT_EQ(object, before);
  }
}

TEST(ObjectPatches, KeepManagedFieldsThatAreOpaque) {
  Object object = widget("{}");
  object["metadata"].get_object()["managedFields"] = make_raw(R"([{"manager":"m"}])", {});
  EXPECT_TRUE(
      apply_configuration(object, object_of(R"({"metadata":{"labels":{"a":"b"},"zone":"z"}})"), {widgets().kind, nullptr, nullptr}).ok());
  EXPECT_TRUE(is_raw(*find_path(object, "metadata.managedFields")));
  EXPECT_TRUE(apply_json_patch(object, {json::parse(R"({"op":"add","path":"/spec/size","value":4})")}, widgets()).ok());
  EXPECT_TRUE(is_raw(*find_path(object, "metadata.managedFields")));
}

}  // namespace
}  // namespace backplane::admission::policies
