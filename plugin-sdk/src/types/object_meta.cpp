// Rules for ObjectMeta and LabelSelector: k8s.io/apimachinery/pkg/api/validation and pkg/apis/meta/v1/validation.
#include <algorithm>
#include <unordered_set>

#include "backplane/core/meta.hpp"
#include "backplane/types/names.hpp"

namespace backplane BACKPLANE_API {
namespace {

constexpr std::size_t kMaxAnnotationBytes = 256 * 1024;
// Each error about an additional controller prints the whole list, which may have megabytes, so at most this many errors are reported.
constexpr std::size_t kMaxSurplusControllers = 4;

void add_problems(const Problems& problems, const std::string& path, std::string_view value, FieldErrors& errors) {
  for (const std::string& problem : problems) errors.invalid(path, value, problem);
}

std::string_view view(const Value& value) noexcept {
  return value.is_string() ? std::string_view(value.get_string().data(), value.get_string().size()) : std::string_view();
}

const Object& metadata_of(const Object& object) {
  static const Object kNone;
  const Object* metadata = get_object(object, "metadata");
  return metadata ? *metadata : kNone;
}

void validate_owner(const Value& item, const std::string& path, FieldErrors& errors) {
  static const Object kNone;
  const Object& owner = item.is_object() ? item.get_object() : kNone;
  const std::string_view api_version = get_string(owner, "apiVersion"), kind = get_string(owner, "kind");
  const bool unparsable = std::count(api_version.begin(), api_version.end(), '/') > 1;
  const GroupVersion gv = unparsable || api_version == "/" ? GroupVersion{} : GroupVersion::parse(api_version);
  if (gv.version.empty()) errors.invalid(path + ".apiVersion", api_version, "version must not be empty");
  for (std::string_view key : {"kind", "name", "uid"}) {
    if (get_string(owner, key).empty()) errors.invalid(path + "." + std::string(key), "", "must not be empty");
  }
  if (gv.group.empty() && gv.version == "v1" && kind == "Event") {
    errors.invalid_raw(path, to_json(item), "/v1, Kind=Event is disallowed from being an owner");
  }
}

void validate_owners(const Object& metadata, const std::string& path, FieldErrors& errors) {
  const Array* owners = get_array(metadata, "ownerReferences");
  if (owners == nullptr) return;
  std::string controller;
  std::size_t surplus = 0;
  for (const Value& item : *owners) {
    validate_owner(item, path, errors);
    const Object* owner = item.if_object();
    if (owner == nullptr || !get_bool(*owner, "controller").value_or(false)) continue;
    const std::string name = std::string(get_string(*owner, "kind")) + "/" + std::string(get_string(*owner, "name"));
    if (controller.empty()) {
      controller = name;
    } else if (++surplus <= kMaxSurplusControllers) {
      errors.invalid_raw(
          path, to_json(*owners),
          "Only one reference can have Controller set to true. Found \"true\" in references for " + controller + " and " + name);
    }
  }
}

void validate_finalizers(const Object& metadata, const std::string& path, FieldErrors& errors) {
  const Array* finalizers = get_array(metadata, "finalizers");
  if (finalizers == nullptr) return;
  bool orphan = false, foreground = false;
  for (const Value& item : *finalizers) {
    add_problems(is_qualified_name(view(item)), path, view(item), errors);
    orphan = orphan || view(item) == "orphan";
    foreground = foreground || view(item) == "foregroundDeletion";
  }
  if (orphan && foreground) {
    errors.invalid_raw(path, to_json(*finalizers), "finalizer orphan and foregroundDeletion cannot be both set");
  }
}

void validate_no_new_finalizers(const Object& metadata, const Object& old, FieldErrors& errors) {
  const Array* now = get_array(metadata, "finalizers");
  const Array* before = get_array(old, "finalizers");
  if (now == nullptr) return;
  std::unordered_set<std::string_view> had;
  if (before != nullptr) {
    for (const Value& item : *before) had.insert(view(item));
  }
  std::vector<std::string_view> added;
  for (const Value& item : *now) {
    if (!had.contains(view(item))) added.push_back(view(item));
  }
  if (added.empty()) return;
  std::sort(added.begin(), added.end());
  std::string list;
  for (std::string_view name : added) list.append(list.empty() ? "" : ", ").append(quoted(name));
  errors.forbidden("metadata.finalizers",
                   "no new finalizers can be added if the object is being deleted, found new finalizers []string{" + list + "}");
}

// Checks the members that no update may change.
void validate_immutable(const Object& metadata, const Object& old, FieldErrors& errors) {
  for (std::string_view key : {"name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"}) {
    const Value* now = find(metadata, key);
    const Value* before = find(old, key);
    const bool same = now && before ? *now == *before : now == before;
    if (same) continue;
    const bool text = key == "name" || key == "namespace" || key == "uid";
    errors.invalid_raw("metadata." + std::string(key), now ? to_json(*now) : text ? "\"\"" : "null", "field is immutable");
  }
}

void validate_requirement(const Object& requirement, const std::string& path, FieldErrors& errors) {
  const std::string_view op = get_string(requirement, "operator");
  const Array* values = get_array(requirement, "values");
  const bool some = values != nullptr && !values->empty();
  if (op == "In" || op == "NotIn") {
    if (!some) errors.required(path + ".values", "must be specified when `operator` is 'In' or 'NotIn'");
  } else if (op == "Exists" || op == "DoesNotExist") {
    if (some) errors.forbidden(path + ".values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
  } else {
    errors.invalid(path + ".operator", op, "not a valid selector operator");
  }
  const std::string_view key = get_string(requirement, "key");
  add_problems(is_qualified_name(key), path + ".key", key, errors);
  if (values == nullptr) return;
  for (std::size_t i = 0; i < values->size(); ++i) {
    const std::string_view value = view((*values)[i]);
    add_problems(is_valid_label_value(value), path + ".values[" + std::to_string(i) + "]", value, errors);
  }
}

}  // namespace

void validate_labels(const Object& labels, const std::string& path, FieldErrors& errors) {
  for (const auto& label : labels) {
    add_problems(is_qualified_name(label.key()), path, label.key(), errors);
    add_problems(is_valid_label_value(view(label.value())), path, view(label.value()), errors);
  }
}

void validate_annotations(const Object& annotations, const std::string& path, FieldErrors& errors) {
  std::size_t bytes = 0;
  for (const auto& annotation : annotations) {
    std::string key(annotation.key());
    std::transform(key.begin(), key.end(), key.begin(),
                   [](unsigned char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); });
    add_problems(is_qualified_name(key), path, annotation.key(), errors);
    bytes += key.size() + view(annotation.value()).size();
  }
  if (bytes > kMaxAnnotationBytes) errors.too_long(path, "", static_cast<long long>(kMaxAnnotationBytes));
}

namespace {

constexpr std::size_t kMaxManagerBytes = 128;
constexpr std::size_t kMaxSubresourceBytes = 256;

void validate_managed_fields(const Object& metadata, FieldErrors& errors) {
  const Array* entries = get_array(metadata, "managedFields");
  if (entries == nullptr) return;
  for (std::size_t i = 0; i < entries->size(); ++i) {
    if (!(*entries)[i].is_object()) continue;
    const Object& entry = (*entries)[i].get_object();
    const std::string path = "metadata.managedFields[" + std::to_string(i) + "]";
    const std::string_view operation = get_string(entry, "operation"), type = get_string(entry, "fieldsType");
    if (operation != "Apply" && operation != "Update") errors.invalid(path + ".operation", operation, "must be `Apply` or `Update`");
    if (!type.empty() && type != "FieldsV1") errors.invalid(path + ".fieldsType", type, "must be `FieldsV1`");
    const std::string_view manager = get_string(entry, "manager");
    if (manager.size() > kMaxManagerBytes) errors.too_long(path + ".manager", manager, kMaxManagerBytes);
    const std::string_view subresource = get_string(entry, "subresource");
    if (subresource.size() > kMaxSubresourceBytes) errors.too_long(path + ".subresource", subresource, kMaxSubresourceBytes);
  }
}

}  // namespace

void validate_object_meta(const Object& object, bool namespaced, NameRule rule, FieldErrors& errors) {
  const Object& metadata = metadata_of(object);
  const std::string_view generate_name = get_string(metadata, "generateName"), name = get_string(metadata, "name");
  const std::string_view ns = get_string(metadata, "namespace");
  if (!generate_name.empty()) add_problems(check_name(rule, generate_name, true), "metadata.generateName", generate_name, errors);
  if (name.empty()) {
    errors.required("metadata.name", "name or generateName is required");
  } else {
    add_problems(check_name(rule, name, false), "metadata.name", name, errors);
  }
  if (!namespaced) {
    if (!ns.empty()) errors.forbidden("metadata.namespace", "not allowed on this type");
  } else if (ns.empty()) {
    errors.required("metadata.namespace");
  } else {
    add_problems(is_dns1123_label(ns), "metadata.namespace", ns, errors);
  }
  if (const auto generation = get_int(metadata, "generation").value_or(0); generation < 0) {
    errors.invalid("metadata.generation", static_cast<long long>(generation), "must be greater than or equal to 0");
  }
  if (const Object* labels = get_object(metadata, "labels")) validate_labels(*labels, "metadata.labels", errors);
  if (const Object* annotations = get_object(metadata, "annotations")) validate_annotations(*annotations, "metadata.annotations", errors);
  validate_owners(metadata, "metadata.ownerReferences", errors);
  validate_finalizers(metadata, "metadata.finalizers", errors);
  validate_managed_fields(metadata, errors);
}

void validate_object_meta_update(const Object& object, const Object& old, FieldErrors& errors) {
  const Object& metadata = metadata_of(object);
  const Object& before = metadata_of(old);
  if (!get_string(before, "deletionTimestamp").empty()) validate_no_new_finalizers(metadata, before, errors);
  const std::int64_t generation = get_int(metadata, "generation").value_or(0);
  if (generation < get_int(before, "generation").value_or(0)) {
    errors.invalid("metadata.generation", static_cast<long long>(generation), "must not be decremented");
  }
  validate_immutable(metadata, before, errors);
  if (const Object* labels = get_object(metadata, "labels")) validate_labels(*labels, "metadata.labels", errors);
  if (const Object* annotations = get_object(metadata, "annotations")) validate_annotations(*annotations, "metadata.annotations", errors);
  validate_owners(metadata, "metadata.ownerReferences", errors);
  validate_managed_fields(metadata, errors);
}

void validate_label_selector(const Object& selector, const std::string& path, FieldErrors& errors) {
  if (const Object* labels = get_object(selector, "matchLabels")) validate_labels(*labels, path + ".matchLabels", errors);
  const Array* expressions = get_array(selector, "matchExpressions");
  if (expressions == nullptr) return;
  for (std::size_t i = 0; i < expressions->size(); ++i) {
    if (const Object* each = (*expressions)[i].if_object()) {
      validate_requirement(*each, path + ".matchExpressions[" + std::to_string(i) + "]", errors);
    }
  }
}

}  // namespace BACKPLANE_API
