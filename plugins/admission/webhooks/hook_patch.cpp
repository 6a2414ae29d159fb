#include "webhooks/hook_patch.hpp"

#include <map>

#include "backplane/core/json_access.hpp"
#include "backplane/core/json_kind.hpp"
#include "webhooks/alike_objects.hpp"
#include "webhooks/patch_problem.hpp"
#include "webhooks/stated_kind.hpp"

namespace backplane::admission::webhooks {
namespace {

// The name of the Scheme in upstream's messages.
constexpr std::string_view kServerScheme = "pkg/runtime/scheme.go:111";

Status not_a_patch(std::string_view kind, std::string_view type) {
  return bad_request("json: cannot unmarshal " + std::string(kind) + " into Go value of type " + std::string(type));
}

// The decoder completes apiVersion and kind from the expected kind, and fails for an unknown kind that a patch has set.
Status complete_kind(const GroupVersionKind& expected, Value& object) {
  const auto stated = stated_kind(object);
  if (!stated.ok()) return stated.status();
  const GroupVersionKind kind = completed_kind(*stated, expected);
  if (kind != expected) {
    return undecodable("no kind " + backplane::quoted(kind.kind) + " is registered for version " +
                       backplane::quoted(kind.group_version().to_string()) + " in scheme " + backplane::quoted(kServerScheme));
  }
  Object& members = object.get_object();
  members["kind"] = kind.kind;
  members["apiVersion"] = kind.group_version().to_string();
  return {};
}

void append_annotation_head(std::string& out, std::string_view configuration, std::string_view webhook) {
  out += "{\"configuration\":";
  append_json_string(out, configuration);
  out += ",\"webhook\":";
  append_json_string(out, webhook);
}

// Go prints the map of an operation sorted by key.
void append_operation(std::string& out, const Object& operation) {
  std::map<std::string_view, const Value*> sorted;
  for (const auto& member : operation) sorted.emplace(member.key(), &member.value());
  char separator = '{';
  for (const auto& [key, value] : sorted) {
    out += separator;
    append_json_string(out, key);
    out += ':';
    append_json(out, *value);
    separator = ',';
  }
  out += separator == '{' ? "{}" : "}";
}

}  // namespace

Result<Array> decode_hook_patch(std::string_view text, json::storage_ptr storage) {
  auto parsed = parse_json(text, storage, nullptr);
  if (!parsed.ok()) return std::move(parsed.status());
  if (parsed->is_null()) return Array(storage);
  if (!parsed->is_array()) return not_a_patch(json_kind(*parsed), "jsonpatch.Patch");
  for (Value& operation : parsed->get_array()) {
    if (operation.is_null()) operation.emplace_object();  // Go decodes null as an operation without members
    if (!operation.is_object()) return not_a_patch(json_kind(operation), "jsonpatch.Operation");
  }
  return std::move(parsed->get_array());
}

Result<Value> apply_hook_patch(const Object& object, const Array& operations) {
  Value target(object, object.storage());
  const Status applied = json_patch(target, operations);
  if (!applied.ok()) return bad_request(patch_problem(object, operations));
  if (!target.is_object()) return bad_request("json: cannot unmarshal array into Go value of type map[string]interface {}");
  return target;
}

Status normalize_patched(const ServedType& type, Value& object) {
  if (type.schema == nullptr) return {};
  Status kind = type.schema->structural() ? Status() : complete_kind(type.kind, object);
  return kind.ok() ? type.schema->normalize(object, nullptr) : kind;
}

bool has_new_times(const ServedType& type, const VersionedObjects& objects) {
  if (count_of(object_or_empty(*objects.object, "metadata"), "managedFields") == 0) return false;
  if (type.schema == nullptr || type.schema->structural()) return false;
  return objects.old_object == nullptr || !alike_objects(*objects.object, *objects.old_object);
}

std::string patch_annotation(std::string_view configuration, std::string_view webhook, const Array& operations) {
  std::string out;
  append_annotation_head(out, configuration, webhook);
  out += ",\"patch\":";
  char separator = '[';
  for (const Value& operation : operations) {
    out += separator;
    append_operation(out, operation.get_object());
    separator = ',';
  }
  out += separator == '[' ? "[]" : "]";
  return out + ",\"patchType\":\"JSONPatch\"}";
}

std::string mutation_annotation(std::string_view configuration, std::string_view webhook, bool mutated) {
  std::string out;
  append_annotation_head(out, configuration, webhook);
  return out + ",\"mutated\":" + (mutated ? "true" : "false") + "}";
}

}  // namespace backplane::admission::webhooks
