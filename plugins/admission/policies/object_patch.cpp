#include "policies/object_patch.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "backplane/core/json_access.hpp"
#include "engine/json_patch.hpp"
#include "engine/object_fields.hpp"
#include "engine/raw_json.hpp"
#include "policies/go_values.hpp"
#include "policies/patched_kind.hpp"

namespace backplane::admission::policies {
namespace {

PatchError error_of(std::string text) { return {std::move(text), {}}; }

// Whether metadata.managedFields, or the fields of one of its entries, are an opaque value.
bool is_opaque_list(const Value& managers) {
  if (is_raw(managers)) return true;
  const Array* list = managers.if_array();
  return list != nullptr && std::any_of(list->begin(), list->end(), [](const Value& entry) {
           const Value* fields = entry.is_object() ? find(entry.get_object(), "fieldsV1") : nullptr;
           return fields != nullptr && is_raw(*fields);
         });
}

// Removes metadata.managedFields from the object while it is an opaque value, because no schema describes an opaque value.
class OpaqueManagers {
 public:
  OpaqueManagers(Object& object, bool sorted) : sorted_(sorted) {
    Object* metadata = mutable_object(object, "metadata");
    Value* managers = metadata == nullptr ? nullptr : find(*metadata, "managedFields");
    if (managers == nullptr || !is_opaque_list(*managers)) return;
    value_.emplace(std::move(*managers));
    erase_member(*metadata, "managedFields");
  }
  void restore(Object& object) {
    if (!value_) return;
    Object& metadata = ensure_object(object, "metadata");
    if (!sorted_) {
      metadata["managedFields"] = std::move(*value_);
      return;
    }
    Object sorted(metadata.storage());
    for (auto& member : metadata) {
      if (value_ && std::string_view(member.key()) > "managedFields") put(sorted);
      sorted.emplace(member.key(), std::move(member.value()));
    }
    if (value_) put(sorted);
    metadata = std::move(sorted);
  }

 private:
  void put(Object& metadata) {
    metadata.emplace("managedFields", std::move(*value_));
    value_.reset();
  }

  const bool sorted_;
  std::optional<Value> value_;
};

// Texts with ", " between them.
std::string listed(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out.append(out.empty() ? "" : ", ").append(text);
  return out;
}

Value copy_for_patch(const Object& object, const ObjectForm& form) {
  Value out(object, object.storage());
  if (form.schema != nullptr && holds_raw(form.schema)) read_raw_within(out);
  return out;
}

// Sets apiVersion and kind of the configuration to those of the object.
void name_kind(Object& configuration, const GroupVersionKind& kind) {
  configuration["apiVersion"] = kind.group_version().to_string();
  configuration["kind"] = kind.kind;
}

}  // namespace

PatchError apply_configuration(Object& object, Object configuration, const ObjectForm& form, const std::vector<cel::GoValue>& go_values) {
  name_kind(configuration, form.kind);
  const std::string start = "error applying patch: ", untyped = start + "failed to convert patch object to typed object: ";
  if (!form.has_type) return error_of(untyped + "no corresponding type for " + kind_text(form.kind));
  const std::string no_json = go_value_problems(form.schema, configuration, go_values);
  if (!no_json.empty()) return error_of(untyped + no_json);
  Status typed = check_fields(form.schema, configuration, Duplicates::kRefused);
  if (!typed.ok()) return error_of(untyped + typed.message());
  const std::vector<std::string> atomic = atomic_fields(form.schema, configuration);
  if (!atomic.empty()) {
    return error_of(start + "invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: " + listed(atomic));
  }
  Value live = copy_for_patch(object, form);
  OpaqueManagers managers(live.get_object(), is_structural(form));
  typed = check_fields(form.schema, live.get_object(), Duplicates::kAllowed);
  if (!typed.ok()) return error_of(start + "failed to convert original object to typed object: " + typed.message());
  auto merged = merge_fields(form.schema, live.get_object(), configuration, object.storage());
  if (!merged.ok()) return error_of(start + "failed to merge patch: " + merged.status().message());
  Value whole(std::move(*merged));
  PatchError completed = complete_patched(whole, form, Decoding::kMap);
  if (!completed.ok()) return completed;
  managers.restore(whole.get_object());
  object = std::move(whole.get_object());
  return {};
}

PatchError apply_json_patch(Object& object, const Array& operations, const ObjectForm& form) {
  Value whole = copy_for_patch(object, form);
  OpaqueManagers managers(whole.get_object(), is_structural(form));
  JsonPatchProblem problem;
  const Status patched = json_patch(whole, operations, problem);
  if (problem.test_failed) return {};
  if (!patched.ok()) return error_of("JSON Patch: " + (problem.text.empty() ? patched.message() : problem.text));
  if (!whole.is_object()) return {{}, internal_error("json: cannot unmarshal array into Go value of type map[string]interface {}")};
  PatchError of_kind = check_patched_kind(whole, form);
  if (!of_kind.ok()) return of_kind;
  PatchError completed = complete_patched(whole, form, Decoding::kStrict);
  if (!completed.ok()) return completed;
  managers.restore(whole.get_object());
  object = std::move(whole.get_object());
  return {};
}

}  // namespace backplane::admission::policies
