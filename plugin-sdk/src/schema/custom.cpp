#include "schema/custom.hpp"

#include <array>

namespace backplane::schema {
namespace {

// Schemas need not mention these; they are there for who reads the OpenAPI document.
struct Standard {
  std::string_view name;
  std::string_view type;
  std::string_view description;
};
constexpr std::array kStandard = {
    Standard{"apiVersion", "string", "Group and version of the schema of this object."},
    Standard{"kind", "string", "What this object is, in CamelCase."},
    Standard{"metadata", "object", "Standard metadata of every object."},
};

}  // namespace

void add_resource_members(Object& schema, const SchemaSet::State& set) {
  Object& properties = ensure_object(schema, "properties");
  for (const Standard& member : kStandard) {
    if (properties.contains(member.name)) continue;
    Object property(schema.storage());
    property["description"] = member.description;
    property["type"] = member.type;
    // What is below metadata is not this schema's to say.
    if (member.type == "object") property["x-kubernetes-preserve-unknown-fields"] = true;
    properties[member.name] = std::move(property);
  }
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
  // With the members that every resource has, it is always a struct.
  auto type = std::make_unique<schema::Type>(state.get(), name, schema::Form::kStruct);
  state->order.push_back(type.get());
  state->by_kind.emplace(std::move(kind), type.get());
  state->definitions.emplace(name, std::move(type));
  return std::make_shared<const SchemaSet>(std::move(state));
}

}  // namespace BACKPLANE_API
