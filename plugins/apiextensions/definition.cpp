#include "definition.hpp"

#include <algorithm>

namespace backplane::apiextensions {
namespace {

Object* mutable_condition(Object& crd, std::string_view type) {
  Value* status = find(crd, "status");
  Value* conditions = status != nullptr && status->is_object() ? find(status->get_object(), "conditions") : nullptr;
  if (conditions == nullptr || !conditions->is_array()) return nullptr;
  for (Value& condition : conditions->get_array()) {
    if (condition.is_object() && get_string(condition.get_object(), "type") == type) return &condition.get_object();
  }
  return nullptr;
}

}  // namespace

const Object& object_or_empty(const Object& parent, std::string_view key) noexcept {
  static const Object kEmpty;
  const Object* found = get_object(parent, key);
  return found ? *found : kEmpty;
}

std::string_view text_of(const Value& value) noexcept {
  return value.is_string() ? std::string_view(value.get_string().data(), value.get_string().size()) : std::string_view();
}

std::vector<std::string> texts(const Object& parent, std::string_view key) {
  std::vector<std::string> out;
  if (const Array* list = get_array(parent, key)) {
    for (const Value& item : *list) out.emplace_back(text_of(item));
  }
  return out;
}

std::vector<const Object*> objects(const Object& parent, std::string_view key) {
  std::vector<const Object*> out;
  if (const Array* list = get_array(parent, key)) {
    for (const Value& item : *list) {
      if (item.is_object()) out.push_back(&item.get_object());
    }
  }
  return out;
}

const Object* storage_version_of(const Object& crd) {
  for (const Object* version : versions_of(crd)) {
    if (get_bool(*version, "storage").value_or(false)) return version;
  }
  return nullptr;
}

const Object* schema_of(const Object& version) noexcept {
  const Object* schema = get_object(version, "schema");
  return schema ? get_object(*schema, "openAPIV3Schema") : nullptr;
}

const Object* find_condition(const Object& crd, std::string_view type) noexcept {
  const Array* conditions = get_array(object_or_empty(crd, "status"), "conditions");
  if (conditions == nullptr) return nullptr;
  for (const Value& condition : *conditions) {
    if (condition.is_object() && get_string(condition.get_object(), "type") == type) return &condition.get_object();
  }
  return nullptr;
}

bool condition_is_true(const Object& crd, std::string_view type) noexcept {
  const Object* condition = find_condition(crd, type);
  return condition != nullptr && get_string(*condition, "status") == "True";
}

bool has_condition(const Object& crd, const Condition& wanted) noexcept {
  const Object* condition = find_condition(crd, wanted.type);
  return condition != nullptr && get_string(*condition, "status") == wanted.status && get_string(*condition, "reason") == wanted.reason &&
         get_string(*condition, "message") == wanted.message;
}

void set_condition(Object& crd, const Condition& wanted) {
  Object* condition = mutable_condition(crd, wanted.type);
  if (condition == nullptr) {
    Array& conditions = ensure_array(ensure_object(crd, "status"), "conditions");
    condition = &conditions.emplace_back(Object(crd.storage())).get_object();
    (*condition)["type"] = wanted.type;
  }
  const bool moved = get_string(*condition, "status") != wanted.status || get_string(*condition, "lastTransitionTime").empty();
  (*condition)["status"] = wanted.status;
  if (moved) (*condition)["lastTransitionTime"] = now_rfc3339();
  (*condition)["reason"] = wanted.reason;
  (*condition)["message"] = wanted.message;
}

bool has_finalizer(const Object& crd, std::string_view finalizer) {
  const std::vector<std::string> all = texts(object_or_empty(crd, "metadata"), "finalizers");
  return std::find(all.begin(), all.end(), finalizer) != all.end();
}

}  // namespace backplane::apiextensions
