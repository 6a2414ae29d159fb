#include "endpoints/patched_object.hpp"

#include <algorithm>
#include <charconv>
#include <exception>
#include <unordered_set>

#include "backplane/types/json_reading.hpp"
#include "base/offload_pool.hpp"
#include "base/origin_executor.hpp"
#include "endpoints/body.hpp"
#include "endpoints/custom_kind.hpp"
#include "endpoints/errors.hpp"
#include "endpoints/go_text.hpp"
#include "engine/raw_json.hpp"
#include "registry/fields/raw_managers.hpp"

namespace backplane::endpoints {
namespace {

constexpr std::size_t kMaxJsonPatchOperations = 10000;
constexpr std::string_view kGoMap = "map[string]interface {}";

// Sorts the members of an object. In Go, an object that a patch has changed is a map.
void sort_members(Object& object) {
  std::vector<std::string> keys;
  keys.reserve(object.size());
  for (const auto& member : object) keys.emplace_back(member.key());
  if (std::is_sorted(keys.begin(), keys.end())) return;
  std::sort(keys.begin(), keys.end());
  Object sorted(object.storage());
  for (const std::string& key : keys) sorted[key] = std::move(object[key]);
  object = std::move(sorted);
}

// Sorts the members of all objects in a value, including those in lists.
void sort_within(Value& value) {
  if (Object* object = value.if_object(); object != nullptr && !is_raw(value)) {
    sort_members(*object);
    for (auto& member : *object) sort_within(member.value());
  } else if (Array* array = value.if_array()) {
    for (Value& item : *array) sort_within(item);
  }
}

// Sorts the objects into which a merge patch descends. If the patch replaces a value that is not an object, all objects in the new value
// are sorted.
void sort_merged(Value& target, const Value& patch, const Object* original) {
  if (!target.is_object() || !patch.is_object()) return;
  if (original == nullptr) return sort_within(target);
  sort_members(target.get_object());
  for (const auto& member : patch.get_object()) {
    Value* child = find(target.get_object(), member.key());
    if (child == nullptr) continue;
    const Object* before = get_object(*original, member.key());
    if (before == nullptr) {
      sort_within(*child);
    } else {
      sort_merged(*child, member.value(), before);
    }
  }
}

// Objects whose members are sorted. Enclosing objects are sorted first, so that these addresses stay valid.
using Sorted = std::unordered_set<const Object*>;

std::string unescaped(std::string_view part) {
  std::string out;
  for (std::size_t i = 0; i < part.size(); ++i) {
    const bool escape = part[i] == '~' && i + 1 < part.size() && (part[i + 1] == '0' || part[i + 1] == '1');
    out.push_back(!escape ? part[i] : part[++i] == '0' ? '~' : '/');
  }
  return out;
}

// Returns the member of an object or the item of a list; null if it does not exist.
Value* step_into(Value& value, std::string_view part) {
  if (value.is_object()) return find(value.get_object(), unescaped(part));
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), index);
  if (!value.is_array() || error != std::errc() || end != part.data() + part.size() || index >= value.get_array().size()) return nullptr;
  return &value.get_array()[index];
}

// Sorts the objects along a JSON pointer. Returns the value to which the pointer refers; null if there is none.
Value* sort_along(Value& target, std::string_view pointer, Sorted& sorted) {
  Value* at = &target;
  while (at != nullptr) {
    if (pointer.empty() || pointer.front() != '/') break;
    if (at->is_object() && sorted.insert(&at->get_object()).second) sort_members(at->get_object());
    pointer.remove_prefix(1);
    const auto end = pointer.find('/');
    at = step_into(*at, pointer.substr(0, end));
    pointer.remove_prefix(end == std::string_view::npos ? pointer.size() : end);
  }
  return at;
}

void sort_patched(Value& target, const Value& operations) {
  Sorted sorted;
  std::unordered_set<const Value*> compared;
  if (target.is_object() && sorted.insert(&target.get_object()).second) sort_members(target.get_object());
  if (!operations.is_array()) return;
  for (const Value& operation : operations.get_array()) {
    if (!operation.is_object()) continue;
    const std::string_view op = get_string(operation.get_object(), "op");
    const std::string_view path = get_string(operation.get_object(), "path"), from = get_string(operation.get_object(), "from");
    Value* found = sort_along(target, path, sorted);
    sort_along(target, from, sorted);
    // Go parses the value of a "test" operation completely, in order to compare it.
    if (found != nullptr && op == "test" && compared.insert(found).second) sort_within(*found);
    // If a value is copied into itself, Go has parsed the objects along the path.
    const bool inside = path.size() > from.size() && path.starts_with(from) && path[from.size()] == '/';
    if (found != nullptr && op == "copy" && inside) sort_along(*found, path.substr(from.size()), sorted);
  }
}

// A strategic merge removes $setElementOrder lists and $retainKeys from the patch, so the texts of errors do not contain them.
void drop_ordered_lists(Object& patch, const Object& original) {
  static constexpr std::string_view kOrder = "$setElementOrder/", kDeletes = "$deleteFromPrimitiveList/";
  std::vector<std::string> ordered;
  for (const auto& member : patch) {
    const std::string_view key(member.key().data(), member.key().size());
    if (key.substr(0, kOrder.size()) == kOrder) ordered.emplace_back(key.substr(kOrder.size()));
  }
  for (const std::string& name : ordered) {
    erase_member(patch, std::string(kOrder) + name);
    if (original.contains(name)) erase_member(patch, std::string(kDeletes) + name);
    erase_member(patch, name);
  }
  erase_member(patch, "$retainKeys");
  for (auto& member : patch) {
    const Value* below = find(original, member.key());
    if (member.value().is_object() && below != nullptr && below->is_object()) {
      drop_ordered_lists(member.value().get_object(), below->get_object());
    }
  }
}

// The limit of the bytes that are copied when raw values are parsed level by level. Each level copies the text of all levels below it.
constexpr std::size_t kMaxOpenedBytes = 64u << 20;

bool exceeds_copy_limit(const Value& value) {
  if (is_raw(value)) return nests_deeper(value, kMaxOpenedBytes / std::max<std::size_t>(raw_text(value).size(), 1));
  if (const Object* object = value.if_object()) {
    return std::any_of(object->begin(), object->end(), [](const auto& member) { return exceeds_copy_limit(member.value()); });
  }
  const Array* array = value.if_array();
  return array != nullptr && std::any_of(array->begin(), array->end(), exceeds_copy_limit);
}

// Returns the error of Go's decoder for a JSON patch that is not a list of operations; empty if it is a list of operations.
std::string operations_problem(const Value& patch) {
  if (patch.is_null()) return {};
  if (!patch.is_array()) return unmarshal_error(patch, "[]handlers.jsonPatchOp");
  for (const Value& operation : patch.get_array()) {
    if (operation.is_null()) continue;
    if (!operation.is_object()) return unmarshal_error(operation, "handlers.jsonPatchOp");
    for (const std::string_view key : {"op", "from", "path"}) {
      const Value* value = find(operation.get_object(), key);
      if (value == nullptr || value->is_string() || value->is_null()) continue;
      return unmarshal_field_error(*value, std::string("jsonPatchOp.").append(key), "string");
    }
  }
  return {};
}

// Reports the unknown members of operations.
void report_unknown_members(const Value& patch, std::vector<std::string>& problems) {
  if (!patch.is_array()) return;
  const Array& operations = patch.get_array();
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (!operations[i].is_object()) continue;
    for (const auto& member : operations[i].get_object()) {
      const std::string_view key(member.key().data(), member.key().size());
      if (key == "op" || key == "path" || key == "from" || key == "value") continue;
      problems.push_back("unknown field \"[" + std::to_string(i) + "]." + std::string(key) + "\"");
    }
  }
}

Status check_json_patch(Value& patch, std::vector<std::string>& problems) {
  const std::string problem = operations_problem(patch);
  if (!problem.empty()) return bad_request("error decoding patch: " + problem);
  report_unknown_members(patch, problems);
  for (std::string& each : problems) each.insert(0, "json patch ");
  if (patch.is_null()) patch = Array(patch.storage());
  const std::size_t count = patch.get_array().size();
  if (count <= kMaxJsonPatchOperations) return {};
  return entity_too_large("The allowed maximum operations in a JSON patch is " + std::to_string(kMaxJsonPatchOperations) + ", got " +
                          std::to_string(count));
}

}  // namespace

Status PatchedObject::parse(RequestContext& context) {
  if (patch_) return {};
  DecodeReport report;
  report.merge_duplicates = false;
  const bool strategic = type_ == PatchType::kStrategic;
  auto tree = parse_json(text_, context.arena(), &report);
  const std::string prefix = strategic ? "" : "error decoding patch: ";
  if (!tree.ok()) return bad_request(prefix + tree.status().message());
  patch_problems_ = std::move(report.problems);
  if (type_ == PatchType::kJson) {
    Status status = check_json_patch(*tree, patch_problems_);
    if (!status.ok()) return status;
  } else if (tree->is_null()) {
    if (!strategic) return bad_request("Invalid JSON Patch");
    *tree = Object(context.arena());
  } else if (!tree->is_object()) {
    return bad_request(prefix + unmarshal_error(*tree, kGoMap));
  }
  if (validation_ == FieldValidation::kIgnore) patch_problems_.clear();
  keep_sent(*tree);
  patch_.emplace(std::move(*tree));
  return {};
}

// Upstream's JSON patch library processes texts, so raw values must stay as they were sent. A strategic merge processes maps.
void PatchedObject::keep_sent(Value& patch) const {
  if (type_ == PatchType::kStrategic || !holds_raw(resource_.schema)) return;
  if (type_ == PatchType::kJson) {
    keep_raw_operations(resource_.schema, patch, text_);
  } else {
    keep_raw(resource_.schema, patch, text_);
  }
  compact_raw_within(patch);
}

Status PatchedObject::apply(Value& target) const {
  if (holds_raw(resource_.schema)) {
    type_ == PatchType::kStrategic ? read_raw_within(target) : compact_raw_within(target);
    if (type_ != PatchType::kStrategic && (exceeds_copy_limit(target) || exceeds_copy_limit(*patch_))) {
      return entity_too_large("raw JSON is nested too deeply for its size");
    }
  }
  switch (type_) {
    case PatchType::kMerge:
      merge_patch(target, *patch_);
      return {};
    case PatchType::kStrategic:
      return resource_.schema->strategic_merge(target, *patch_);
    case PatchType::kJson:
      break;
  }
  Status status = json_patch(target, patch_->get_array());
  // kInvalid means that an operation cannot be applied. Other reasons mean that an operation exceeds a limit.
  return status.reason() == Reason::kInvalid ? patch_does_not_apply() : status;
}

std::string PatchedObject::patched_text(const Value& target) const {
  if (type_ == PatchType::kStrategic) {
    Value left(*patch_, patch_->storage());
    if (patched_ != nullptr && left.is_object()) drop_ordered_lists(left.get_object(), *patched_);
    return go_value(left);
  }
  return to_json(in_order(target));
}

// Returns the object with its members in the order that upstream's JSON patch library produces.
Value PatchedObject::in_order(const Value& target) const {
  Value out(target, target.storage());
  if (type_ == PatchType::kMerge) {
    sort_merged(out, *patch_, patched_);
  } else {
    sort_patched(out, *patch_);
  }
  return out;
}

Status PatchedObject::refused(const Value& target, std::string_view why) const { return invalid_patch(patched_text(target), why); }

Status PatchedObject::check_kind(const Value& target) const {
  Status status = check_type_meta(target);
  if (!status.ok()) return refused(target, status.message());
  auto gvk = kind_in_body(target, resource_.scope.kind);
  if (!gvk.ok()) return refused(target, gvk.status().message());
  if (!resource_.custom) {
    const std::string why = foreign_kind_text(resource_, *gvk);
    return why.empty() ? Status() : refused(target, why);
  }
  if (!target.is_object() || get_string(target.get_object(), "kind").empty())
    return refused(target, missing_kind_text(patched_text(target)));
  const std::string_view why = type_accessor_problem(target.get_object());
  return why.empty() ? Status() : refused(target, why);
}

// Checked after decoding. For the status subresource, the rest of the object is ignored, including its kind.
Status PatchedObject::check_custom_kind(const RequestContext& context, const GroupVersionKind& declared, const Object& object) const {
  if (declared.version.empty()) return internal_error("Object 'apiVersion' is missing in 'object has no apiVersion field'");
  return context.info.subresource == "status" ? Status() : check_declared_kind(declared, resource_.scope.kind, object);
}

// Returns true if upstream decodes the object as its internal type, whose fields have other names: a built-in object without apiVersion.
bool PatchedObject::has_no_version(const Value& target) const {
  return !resource_.custom && resource_.schema != nullptr && target.is_object() && get_string(target.get_object(), "apiVersion").empty();
}

// Checks an object without apiVersion. Upstream's internal type has only `name` and `kind` in common with the object.
Status PatchedObject::without_version(RequestContext& context, const Value& target) const {
  const Value shown = in_order(target);
  Object known(context.arena());
  std::vector<std::string> problems = validation_ == FieldValidation::kIgnore ? std::vector<std::string>() : patch_problems_;
  for (const auto& member : shown.get_object()) {
    const std::string_view key(member.key().data(), member.key().size());
    if (key == "name") known["metadata"] = Object{{"name", member.value()}};
    if (key == "kind" || key == "apiVersion" || key == "name") continue;
    if (validation_ != FieldValidation::kIgnore) problems.push_back("unknown field \"" + std::string(key) + "\"");
  }
  if (validation_ == FieldValidation::kStrict && !problems.empty()) return refused(target, strict_error_text(problems));
  warn_problems(context, problems);
  return match_name(context.info.name, known);
}

// Sorts the problems in the order in which upstream's decoder reports them. The result of a strategic merge is a map, so its problems are
// sorted by name.
void PatchedObject::put_in_order(const Value& decoded, std::vector<std::string>& problems) const {
  if (type_ == PatchType::kStrategic) return std::sort(problems.begin(), problems.end());
  Value again = in_order(decoded);
  set_type_meta(resource_, again.get_object());
  DecodeReport report;
  if (resource_.schema->normalize(again, &report).ok()) problems = std::move(report.problems);
}

Status PatchedObject::decode(RequestContext& context, Value& target) const {
  // A strategic merge processes the typed object, so kind and version are not checked.
  if (type_ != PatchType::kStrategic) {
    Status status = check_kind(target);
    if (status.ok() && has_no_version(target)) status = without_version(context, target);
    if (!status.ok()) return status;
  }
  if (target.is_null()) target = Object(context.arena());
  keep_managed_reset(resource_, target.get_object());
  // An error shows the tree as the patch has produced it, but decoding changes the tree.
  const bool keep = resource_.schema != nullptr && type_ != PatchType::kStrategic;
  std::optional<Value> before;
  if (keep) before.emplace(target, target.storage());
  const Value& shown = keep ? *before : target;
  set_type_meta(resource_, target.get_object());
  if (resource_.schema == nullptr) return {};
  DecodeReport report;
  report.restore = type_ == PatchType::kStrategic;
  Status status = resource_.schema->normalize(target, &report);
  if (!status.ok()) return refused(shown, status.message());
  if (validation_ == FieldValidation::kIgnore) return {};
  if (report.problems.size() > 1) put_in_order(shown, report.problems);
  std::vector<std::string> problems = patch_problems_;
  problems.insert(problems.end(), report.problems.begin(), report.problems.end());
  if (problems.empty()) return {};
  if (validation_ == FieldValidation::kStrict) return refused(shown, strict_error_text(problems));
  warn_problems(context, problems);
  return {};
}

Result<Object> PatchedObject::patch(RequestContext& context, const Object& existing) {
  Status status = parse(context);
  if (!status.ok()) return status;
  patched_ = &existing;
  Value target(existing, context.arena());
  // A JSON patch or merge patch may refer to any field of managedFields, and errors contain the patched object. A strategic merge does not
  // need them as trees.
  if (type_ != PatchType::kStrategic) registry::expand_managers(target.get_object());
  status = apply(target);
  if (status.ok() && nests_deeper(target, kMaxJsonDepth)) {
    status = bad_request("the patched object would be nested deeper than " + std::to_string(kMaxJsonDepth) + " levels");
  }
  const GroupVersionKind declared = resource_.custom ? declared_kind(target) : resource_.scope.kind;
  if (status.ok()) status = decode(context, target);
  if (status.ok() && resource_.custom) status = check_custom_kind(context, declared, target.get_object());
  if (!status.ok()) return status;
  if (resource_.schema != nullptr) resource_.schema->apply_defaults(target);
  Object& object = target.get_object();
  status = match_namespace(resource_.namespace_of(context), object);
  if (status.ok()) status = match_name(context.info.name, object);
  if (!status.ok()) return status;
  return std::move(object);
}

Result<Value> PatchedObject::sent(RequestContext& context, const Object& existing) const {
  if (!patch_) return internal_error("the patch has not been read");
  Value target(existing, context.arena());
  if (type_ != PatchType::kStrategic) registry::expand_managers(target.get_object());
  if (Status status = apply(target); !status.ok()) return status;
  return target;
}

Task<Result<Object>> PatchedObject::updated_object(RequestContext& context, const Object* existing) {
  if (existing == nullptr) co_return not_found(resource_.scope.resource.group, resource_.scope.resource.resource, context.info.name);
  const OriginExecutor origin;
  const OffloadIfLarge offload(text_.size());
  Result<Object> patched;
  std::exception_ptr thrown;
  co_await offload;
  try {
    patched = patch(context, *existing);
  } catch (...) {
    thrown = std::current_exception();
  }
  // The caller may be a plugin's storage, which runs on the executor of the exchange.
  co_await origin;
  if (thrown) std::rethrow_exception(thrown);
  co_return patched;
}

}  // namespace backplane::endpoints
