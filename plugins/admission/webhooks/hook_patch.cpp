#include "webhooks/hook_patch.hpp"

#include <map>

#include "backplane/core/json_access.hpp"
#include "backplane/core/json_kind.hpp"
#include "backplane/rest/object_defaults.hpp"
#include "backplane/rest/roles.hpp"
#include "backplane/types/schema.hpp"
#include "webhooks/patch_problem.hpp"

namespace backplane::admission::webhooks {
namespace {

Status not_a_patch(std::string_view kind, std::string_view type) {
  return bad_request("json: cannot unmarshal " + std::string(kind) + " into Go value of type " + std::string(type));
}

// The storage of the objects; null for kinds that only a subresource has.
std::shared_ptr<RestStorage> storage_of_target(Host& host, const ReviewTarget& target) {
  auto storage = host.find_storage(target.resource);
  if (storage == nullptr || storage->kind() != target.kind) return nullptr;
  return storage;
}

// The type of a subresource's kind (Scale, Binding …); null for kinds of other groups, which stay as they are.
const Schema* subresource_schema(const GroupVersionKind& kind) {
  const Schema* schema = meta_schemas()->find(kind);
  return schema != nullptr ? schema : core_schemas()->find(kind);
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
  for (const Value& operation : parsed->get_array()) {
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

Status normalize_patched(Host& host, const ReviewTarget& target, Value& object) {
  const auto storage = storage_of_target(host, target);
  const Schema* schema = storage != nullptr ? storage->schema() : subresource_schema(target.kind);
  return schema != nullptr ? schema->normalize(object, nullptr) : Status();
}

void default_patched(Host& host, const ReviewTarget& target, Value& object) {
  const auto storage = storage_of_target(host, target);
  if (storage == nullptr) return;
  if (const auto* defaults = role_of<ObjectDefaulter>(storage.get())) {
    defaults->set_defaults(object);
  } else if (storage->schema() != nullptr) {
    storage->schema()->apply_defaults(object);
  }
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
