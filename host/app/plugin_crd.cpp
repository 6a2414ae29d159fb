#include "app/plugin_crd.hpp"

#include "backplane/core/json_access.hpp"
#include "conformance/run.hpp"

namespace backplane {
namespace {

// ".spec.replicas" → "spec.replicas"
std::string without_dot(std::string_view path) { return std::string(path.substr(path.starts_with('.') ? 1 : 0)); }

void copy_list(const Object& from, std::string_view key, Object& to) {
  const Array* list = get_array(from, key);
  if (list != nullptr && !list->empty()) to[key] = *list;
}

Object column_of(const Object& printed) {
  const std::string path(get_string(printed, "jsonPath")), text(get_string(printed, "description"));
  Object out{{"name", std::string(get_string(printed, "name"))}, {"type", std::string(get_string(printed, "type"))}};
  if (!get_string(printed, "format").empty()) out["format"] = std::string(get_string(printed, "format"));
  out["description"] = text.empty() ? "Custom resource definition column (in JSONPath format): " + path : text;
  if (const auto priority = get_int(printed, "priority"); priority.value_or(0) != 0) out["priority"] = *priority;
  out["path"] = path;
  if (get_string(printed, "type") == "date") {
    out["print"] = "since";
  } else {
    out["absent"] = nullptr;
  }
  return out;
}

Array columns_of(const Object& version) {
  Array out{"name"};
  each(version, "additionalPrinterColumns", [&](const Object& printed, std::size_t) { out.push_back(column_of(printed)); });
  if (out.size() == 1) out.emplace_back("age");
  return out;
}

Object scale_of(const Object& scale) {
  return {{"specReplicas", without_dot(get_string(scale, "specReplicasPath"))},
          {"statusReplicas", without_dot(get_string(scale, "statusReplicasPath"))},
          {"selector", without_dot(get_string(scale, "labelSelectorPath"))}};
}

// The members of the kind in the group document. They come from the stored version and apply to all versions.
Object facts_of(const Object& spec, const Object& stored) {
  Object facts;
  const Object& names = object_or_empty(spec, "names");
  copy_list(names, "shortNames", facts);
  copy_list(names, "categories", facts);
  if (get_string(spec, "scope") == "Cluster") facts["namespaced"] = false;
  facts["unconditionalUpdate"] = false;
  facts["generation"] = true;
  const Object& parts = object_or_empty(stored, "subresources");
  if (parts.contains("status")) facts["status"] = true;
  if (const Object* scale = get_object(parts, "scale")) facts["scale"] = scale_of(*scale);
  each(stored, "selectableFields", [&](const Object& field, std::size_t) {
    ensure_array(facts, "selectable").emplace_back(without_dot(get_string(field, "jsonPath")));
  });
  facts["columns"] = columns_of(stored);
  return facts;
}

Status add_version(const Object& version, ImportedKind& kind, const Object*& stored) {
  const std::string name(get_string(version, "name"));
  const bool is_stored = get_bool(version, "storage").value_or(false), is_served = get_bool(version, "served").value_or(false);
  if (is_stored && !is_served) return bad_request("spec.versions: the stored version " + name + " is not served; a plugin serves it");
  if (!is_served) return {};
  const Object* schema = get_object(object_or_empty(version, "schema"), "openAPIV3Schema");
  if (schema == nullptr) return bad_request("spec.versions: the version " + name + " has no schema.openAPIV3Schema");
  ImportedKind::Version added{name, *schema};
  if (is_stored) stored = &version;
  kind.versions.insert(is_stored ? kind.versions.begin() : kind.versions.end(), std::move(added));
  return {};
}

Result<ImportedKind> read_definition(const Object& definition) {
  const Object& spec = object_or_empty(definition, "spec");
  const Object& names = object_or_empty(spec, "names");
  if (get_string_path(spec, "conversion.strategy") == "Webhook") {
    return bad_request(
        "spec.conversion.strategy: Webhook: a plugin calls no conversion webhook. Remove spec.conversion, and write the conversion in C++ "
        "(docs/guide/04-two-versions.md)");
  }
  ImportedKind kind{std::string(get_string(spec, "group")), std::string(get_string(names, "kind")),
                    std::string(get_string(names, "plural"))};
  const Object* stored = nullptr;
  Status status;
  each(spec, "versions", [&](const Object& version, std::size_t) {
    if (status.ok()) status = add_version(version, kind, stored);
  });
  if (!status.ok()) return status;
  if (stored == nullptr) return bad_request("spec.versions: no version has storage: true");
  kind.facts = facts_of(spec, *stored);
  return kind;
}

bool is_definition(const Object& document) {
  return get_string(document, "kind") == "CustomResourceDefinition" && get_string(document, "apiVersion") == "apiextensions.k8s.io/v1";
}

}  // namespace

Result<ImportedKind> kind_of_crd(std::string_view yaml, std::string_view kind) {
  auto documents = conformance::read_samples(yaml);
  if (!documents.ok()) return std::move(documents.status());
  const Object* found = nullptr;
  std::size_t count = 0;
  for (const Object& document : *documents) {
    if (!is_definition(document) || (!kind.empty() && get_string_path(document, "spec.names.kind") != kind)) continue;
    found = &document;
    ++count;
  }
  const std::string wanted = kind.empty() ? "" : " of the kind " + std::string(kind);
  if (count == 0) return bad_request("the file has no CustomResourceDefinition of apiextensions.k8s.io/v1" + wanted);
  if (count > 1) return bad_request("the file has " + std::to_string(count) + " CustomResourceDefinitions; choose one with --kind");
  return read_definition(*found);
}

}  // namespace backplane
