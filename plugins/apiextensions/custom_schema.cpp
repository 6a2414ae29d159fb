#include "custom_schema.hpp"

#include "definition.hpp"

namespace backplane::apiextensions {
namespace {

// OpenAPI documents show what can be selected by beside the schema.
std::string with_selectable_fields(const Object& schema, const Object& version) {
  Array fields;
  for (const Object* each : objects(version, "selectableFields")) {
    const std::string_view path = get_string(*each, "jsonPath");
    fields.push_back(Object{{"fieldPath", path.substr(path.substr(0, 1) == "." ? 1 : 0)}});
  }
  if (fields.empty()) return to_json(Value(schema));
  Object shown = schema;
  shown["x-kubernetes-selectable-fields"] = std::move(fields);
  return to_json(Value(std::move(shown)));
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

SharedBytes SchemaSource::schema(const std::string& version) const {
  ObjectRef entry;
  {
    const std::lock_guard lock(mutex_);
    entry = entry_;
  }
  const Object crd = decode(*entry, json::make_shared_resource<json::monotonic_resource>());
  for (const Object* each : versions_of(crd)) {
    const Object* schema = get_string(*each, "name") == version ? schema_of(*each) : nullptr;
    if (schema != nullptr) return SharedBytes(with_selectable_fields(*schema, *each));
  }
  return SharedBytes::from_static(R"({"type":"object"})");
}

void SchemaSource::renew(ObjectRef entry) {
  const std::lock_guard lock(mutex_);
  entry_ = std::move(entry);
}

CompiledSchema lazy_schema(std::shared_ptr<const SchemaSource> source, const GroupVersionKind& kind) {
  CompiledSchema out;
  const std::string name = definition_name(kind);
  out.set = SchemaSet::custom(kind, name, [source = std::move(source), version = kind.version] { return source->schema(version); });
  out.root = out.set->find(std::string_view(name));
  return out;
}

Result<CompiledSchema> compile_schema(const Object& schema, const GroupVersionKind& kind) {
  CompiledSchema out;
  const std::string name = definition_name(kind);
  out.set = SchemaSet::custom(kind, name, [text = SharedBytes(to_json(Value(schema)))] { return text; });
  out.root = out.set->find(std::string_view(name));
  Status checked = out.set->check();
  if (!checked.ok()) return checked;
  return out;
}

}  // namespace backplane::apiextensions
