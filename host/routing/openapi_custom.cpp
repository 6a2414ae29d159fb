#include "routing/openapi_custom.hpp"

#include <algorithm>

namespace backplane {
namespace {

constexpr std::string_view kSelectable = "x-kubernetes-selectable-fields";
constexpr std::string_view kPreserve = "x-kubernetes-preserve-unknown-fields";
// Extension keywords of the plugin apiextensions, which OpenAPI documents must not contain (docs/schema-words.md).
constexpr std::string_view kKeepsUnknown = "x-custom-keeps-unknown-fields";
constexpr std::string_view kUnpublished = "x-custom-unpublished";
const std::string kMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.";

bool is_true(const Object& schema, std::string_view word) { return get_bool(schema, word).value_or(false); }

// Calls `visit` for each subschema. The members apiVersion, kind and metadata of the root are skipped.
template <class Visit>
void each_inner(Object& schema, bool root, const Visit& visit) {
  if (auto* properties = schema.if_contains("properties"); properties != nullptr && properties->is_object()) {
    for (auto& property : properties->get_object()) {
      const std::string_view name = property.key();
      if (root && (name == "apiVersion" || name == "kind" || name == "metadata")) continue;
      if (property.value().is_object()) visit(property.value().get_object());
    }
  }
  for (const char* word : {"items", "additionalProperties"}) {
    if (auto* inner = schema.if_contains(word); inner != nullptr && inner->is_object()) visit(inner->get_object());
  }
}

// Returns a reference that has a description. In v3, $ref must not have siblings, so the reference is wrapped in allOf.
Object described_reference(std::string_view prefix, const std::string& definition, std::string_view description) {
  Object reference{{"$ref", std::string(prefix) + definition}};
  if (prefix == kV2Reference) {
    reference["description"] = description;
    return reference;
  }
  return Object{{"description", description}, {"allOf", Array{std::move(reference)}}};
}

Object text_member(std::string_view description) { return Object{{"description", description}, {"type", "string"}}; }

void set_type_members(Object& properties) {
  properties["apiVersion"] = text_member("APIVersion defines which group and version the object is written in.");
  properties["kind"] = text_member("Kind is a string, in CamelCase, that names the type of the object.");
}

bool requires_member(const Array& required, std::string_view name) {
  return std::any_of(required.begin(), required.end(), [&](const Value& each) { return each.is_string() && each.get_string() == name; });
}

// Adds apiVersion, kind and metadata to the schemas of embedded objects.
void show_embedded(Object& schema, std::string_view prefix, bool root) {
  each_inner(schema, root, [&](Object& inner) { show_embedded(inner, prefix, false); });
  if (!is_true(schema, "x-kubernetes-embedded-resource")) return;
  // If v2 schemas name some members, clients refuse all other members.
  if (prefix == kV2Reference && is_true(schema, kPreserve)) return;
  Object& properties = ensure_object(schema, "properties");
  set_type_members(properties);
  properties["metadata"] = described_reference(prefix, kMeta + "ObjectMeta", "Standard object's metadata.");
  Array& required = ensure_array(schema, "required");
  for (const std::string_view name : {"kind", "apiVersion"}) {
    if (!requires_member(required, name)) required.emplace_back(name);
  }
}

// ---- v3

bool is_int_or_string_union(const Value* alternatives) {
  if (alternatives == nullptr || !alternatives->is_array() || alternatives->get_array().size() != 2) return false;
  std::string types;
  for (const Value& each : alternatives->get_array()) {
    if (!each.is_object() || each.get_object().size() != 1) return false;
    types += std::string(get_string(each.get_object(), "type")) + " ";
  }
  return types == "integer string ";
}

Array int_or_string() { return Array{Object{{"type", "integer"}}, Object{{"type", "string"}}}; }

// Replaces x-kubernetes-int-or-string by the standard keyword anyOf.
void unfold(Object& schema, bool root) {
  each_inner(schema, root, [](Object& inner) { unfold(inner, false); });
  if (!is_true(schema, "x-kubernetes-int-or-string")) return;
  const Array* all = get_array(schema, "allOf");
  const bool first_is_int_or_string = all != nullptr && !all->empty() && all->front().is_object() &&
                                      all->front().get_object().size() == 1 &&
                                      is_int_or_string_union(find(all->front().get_object(), "anyOf"));
  if (first_is_int_or_string || is_int_or_string_union(find(schema, "anyOf"))) return;
  if (!schema.contains("anyOf")) {
    schema["anyOf"] = int_or_string();
    return;
  }
  Array more{Object{{"anyOf", int_or_string()}}};
  if (all != nullptr) more.insert(more.end(), all->begin(), all->end());
  schema["allOf"] = std::move(more);
}

// ---- v2

bool is_nullable(const Value& schema) { return schema.is_object() && is_true(schema.get_object(), "nullable"); }

// Removes nullable members from `required`, because validators of v2 treat null as absent.
void allow_nulls(Object& schema) {
  auto* required = schema.if_contains("required");
  if (required == nullptr || !required->is_array()) return;
  Array kept;
  const Object* properties = get_object(schema, "properties");
  for (const Value& name : required->get_array()) {
    const Value* property = properties != nullptr && name.is_string() ? find(*properties, name.get_string()) : nullptr;
    if (property == nullptr || !is_nullable(*property)) kept.push_back(name);
  }
  if (const Value* values = find(schema, "additionalProperties"); values != nullptr && is_nullable(*values)) kept.clear();
  if (kept.empty())
    schema.erase("required");
  else
    schema["required"] = std::move(kept);
}

// Removes keywords that v2 does not have, and parts of schemas that v2 clients cannot handle.
void simplify(Object& schema, bool root) {
  const auto without = [&](std::initializer_list<const char*> words) {
    for (const char* word : words) schema.erase(word);
  };
  without({"allOf", "oneOf", "anyOf", "not", "default"});
  if (is_true(schema, "nullable")) without({"type", "items", "properties"});
  schema.erase("nullable");
  const bool preserves = is_true(schema, kPreserve);
  if (preserves) without({"items", "properties"});
  const std::string_view type = get_string(schema, "type");
  if ((type == "array" && !schema.contains("items")) || (type == "object" && preserves)) schema.erase("type");
  allow_nulls(schema);
  each_inner(schema, root, [](Object& inner) { simplify(inner, false); });
}

// Leaves only the type of the definition. If the schema named some members, clients would refuse all other members.
void make_bare(Object& definition) {
  Object bare{{"type", "object"}};
  for (const std::string_view word : {std::string_view("x-kubernetes-group-version-kind"), kSelectable}) {
    if (const Value* found = find(definition, word)) bare[word] = *found;
  }
  definition = std::move(bare);
}

}  // namespace

void custom_definition_v3(Object& definition) {
  if (is_true(definition, kUnpublished)) return make_bare(definition);
  definition.stable_erase(kKeepsUnknown);
  unfold(definition, true);
  show_embedded(definition, kV3Reference, true);
}

void custom_definition_v2(Object& definition) {
  const bool keeps_unknown = is_true(definition, kPreserve) || is_true(definition, kKeepsUnknown);
  if (keeps_unknown || is_true(definition, kUnpublished)) return make_bare(definition);
  simplify(definition, true);
  show_embedded(definition, kV2Reference, true);
  Object& metadata = ensure_object(ensure_object(definition, "properties"), "metadata");
  metadata = described_reference(kV2Reference, kMeta + "ObjectMeta", get_string(metadata, "description"));
}

void note_selectable_fields(std::string_view name, const Object& definition, SelectableFields& fields) {
  if (const Value* found = find(definition, kSelectable)) fields.emplace(name, *found);
}

void undefined_lists(const VersionTable& version, std::string_view prefix, const SelectableFields& fields, DocumentText& text) {
  version.rows.each([&](const std::string&, const RowRef& row) {
    const std::string name = row->subresource.empty() ? openapi_list_definition(*row) : std::string();
    if (name.empty()) return;
    const GroupVersionKind& kind = row->kind;
    const std::string list_kind = name.substr(name.rfind('.') + 1), item = definition_of(*row, kind);
    if (row->schemas && row->schemas->find(GroupVersionKind{kind.group, kind.version, list_kind}) != nullptr) return;
    Object properties;
    set_type_members(properties);
    properties["items"] = Object{
        {"description", "List of " + row->resource + "."}, {"type", "array"}, {"items", Object{{"$ref", std::string(prefix) + item}}}};
    properties["metadata"] = described_reference(prefix, kMeta + "ListMeta", "Standard list metadata.");
    Object list{{"description", list_kind + " is a list of " + kind.kind}, {"type", "object"}, {"required", Array{json::value("items")}}};
    list["properties"] = std::move(properties);
    list["x-kubernetes-group-version-kind"] = Array{Object{{"group", kind.group}, {"kind", list_kind}, {"version", kind.version}}};
    if (const auto found = fields.find(item); found != fields.end()) list[kSelectable] = found->second;
    text.definition(name, list);
  });
}

}  // namespace backplane
