#include "custom_schema.hpp"

#include "schema_rules.hpp"
#include "unpruned_definition.hpp"

namespace backplane::apiextensions {
namespace {

// Keywords that are added to the root of a schema (docs/schema-words.md). This one means that objects are not pruned.
constexpr std::string_view kKeepsUnknown = "x-custom-keeps-unknown-fields";
// This one means that OpenAPI documents omit the schema: there is none, or it is not structural, which older servers allowed.
constexpr std::string_view kUnpublished = "x-custom-unpublished";
constexpr std::string_view kNothingKnown = R"({"type":"object","x-custom-unpublished":true})";

// OpenAPI documents contain the selectable fields next to the schema.
void add_selectable_fields(Object& schema, const Object& version) {
  Array fields;
  for (const Object* each : objects(version, "selectableFields")) {
    const std::string_view path = get_string(*each, "jsonPath");
    fields.push_back(Object{{"fieldPath", path.substr(path.substr(0, 1) == "." ? 1 : 0)}});
  }
  if (!fields.empty()) schema["x-kubernetes-selectable-fields"] = std::move(fields);
}

// The schema of a version, with keywords from the definition for the engine and the documents.
std::string schema_text(const Object& crd, const Object& version) {
  const Object* declared = schema_of(version);
  Object schema = declared != nullptr ? *declared : Object{{"type", "object"}};
  add_selectable_fields(schema, version);
  if (preserves_unknown_fields(crd)) schema[kKeepsUnknown] = true;
  if (declared == nullptr || has_unknown_types(*declared) || !is_structural(*declared)) schema[kUnpublished] = true;
  return to_json(Value(std::move(schema)));
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
    if (get_string(*each, "name") == version) return SharedBytes(schema_text(crd, *each));
  }
  return SharedBytes::from_static(kNothingKnown);
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
