#include "custom_schema.hpp"

#include <array>

namespace backplane::apiextensions {
namespace {

// Members that every resource has and that schemas need not mention; they are there for who reads the OpenAPI document.
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

void add_standard_members(Object& schema) {
  Object& properties = ensure_object(schema, "properties");
  for (const Standard& member : kStandard) {
    if (properties.contains(member.name)) continue;
    Object property;
    property["description"] = member.description;
    property["type"] = member.type;
    // What is below metadata is not this schema's to say.
    if (member.type == "object") property["x-kubernetes-preserve-unknown-fields"] = true;
    properties[member.name] = std::move(property);
  }
}

}  // namespace

std::string definition_name(const GroupVersionKind& kind) {
  std::string name;
  std::string_view rest = kind.group;
  while (!rest.empty()) {
    const std::size_t dot = rest.rfind('.');
    name += dot == std::string_view::npos ? rest : rest.substr(dot + 1);
    name += '.';
    rest = dot == std::string_view::npos ? std::string_view() : rest.substr(0, dot);
  }
  return name + kind.version + "." + kind.kind;
}

Result<CompiledSchema> compile_schema(const Object* schema, const GroupVersionKind& kind) {
  Object definition = schema ? *schema : Object({{"type", "object"}});
  add_standard_members(definition);
  Object row;
  row["group"] = kind.group;
  row["kind"] = kind.kind;
  row["version"] = kind.version;
  definition["x-kubernetes-group-version-kind"] = Array({Value(std::move(row))});
  Object definitions;
  definitions[definition_name(kind)] = std::move(definition);
  Object document;
  document["x-backplane-mode"] = "structural";
  document["definitions"] = std::move(definitions);

  const std::string text = to_json(Value(std::move(document)));
  const std::array<std::string_view, 1> documents = {text};
  auto set = SchemaSet::compile(documents);
  if (!set.ok()) return std::move(set.status());
  CompiledSchema compiled;
  compiled.set = std::move(*set);
  compiled.root = compiled.set->find(kind);
  if (compiled.root == nullptr) return internal_error("the compiled schema of " + kind.kind + " has no type");
  return compiled;
}

}  // namespace backplane::apiextensions
