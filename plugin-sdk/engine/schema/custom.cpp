#include "schema/custom.hpp"

namespace backplane::schema {
namespace {

// Clients search for the prefixes of these texts.
constexpr std::string_view kApiVersion = "APIVersion defines which group and version the object is written in.";
constexpr std::string_view kKind = "Kind is a string, in CamelCase, that names the type of the object.";
constexpr std::string_view kMetadata = "Standard object's metadata: its name, labels and owners.";
constexpr std::string_view kObjectMeta = "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

Object text_member(std::string_view description) { return Object{{"description", description}, {"type", "string"}}; }

}  // namespace

void add_resource_members(Object& schema) {
  Object& properties = ensure_object(schema, "properties");
  for (const char* name : {"apiVersion", "kind"}) properties.emplace(name, Object{{"type", "string"}});
  // The schema does not define members below metadata.
  properties.emplace("metadata", Object{{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}});
}

void show_resource_members(Object& schema, const SchemaSet::State& set) {
  Object& properties = ensure_object(schema, "properties");
  properties["apiVersion"] = text_member(kApiVersion);
  properties["kind"] = text_member(kKind);
  properties["metadata"] = Object{{"description", kMetadata}, {"allOf", Array{Object{{"$ref", kObjectMeta}}}}};
  Array rows(schema.storage());
  for (const auto& [kind, type] : set.by_kind) {
    rows.emplace_back(Object({{"group", kind.group}, {"kind", kind.kind}, {"version", kind.version}}, schema.storage()));
  }
  schema["x-kubernetes-group-version-kind"] = std::move(rows);
}

SharedBytes Type::text() const { return set_->source ? set_->source() : SharedBytes::from_static(text_); }

}  // namespace backplane::schema

namespace backplane BACKPLANE_API {

std::shared_ptr<const SchemaSet> SchemaSet::custom(GroupVersionKind kind, std::string definition, std::function<SharedBytes()> schema) {
  auto state = std::make_unique<State>();
  state->imports = {meta_schemas()};
  state->structural = true;
  state->source = std::move(schema);
  const std::string_view name = state->keep(definition);
  // The members that every resource has make it a struct.
  auto type = std::make_unique<schema::Type>(state.get(), name, schema::Form::kStruct);
  state->order.push_back(type.get());
  state->by_kind.emplace(std::move(kind), type.get());
  state->definitions.emplace(name, std::move(type));
  return std::make_shared<const SchemaSet>(std::move(state));
}

}  // namespace BACKPLANE_API
