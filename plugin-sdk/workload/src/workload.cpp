#include "backplane/workload/workload.hpp"

#include <algorithm>

#include "backplane/core/json_access.hpp"
#include "backplane/types/names.hpp"
#include "backplane/workload/pod_validation.hpp"

namespace backplane::workload {

using namespace kit;

namespace {

bool listed(const Array* values, std::string_view text) {
  return values != nullptr && std::any_of(values->begin(), values->end(), [&](const Value& value) { return text_of(value) == text; });
}

std::optional<bool> expression_matches(const Object& expression, const Object* labels) {
  const std::string_view op = get_string(expression, "operator");
  const Value* value = labels ? find(*labels, get_string(expression, "key")) : nullptr;
  const Array* values = get_array(expression, "values");
  if (op == "In") return value != nullptr && listed(values, text_of(*value));
  if (op == "NotIn") return value == nullptr || !listed(values, text_of(*value));
  if (op == "Exists") return value != nullptr;
  if (op == "DoesNotExist") return value == nullptr;
  return std::nullopt;
}

}  // namespace

bool is_empty_selector(const Object& selector) {
  const Array* expressions = get_array(selector, "matchExpressions");
  return object_or_empty(selector, "matchLabels").empty() && (expressions == nullptr || expressions->empty());
}

std::optional<bool> selector_matches(const Object& selector, const Object* labels) {
  for (const auto& wanted : object_or_empty(selector, "matchLabels")) {
    const Value* value = labels ? find(*labels, wanted.key()) : nullptr;
    if (value == nullptr || *value != wanted.value()) return false;
  }
  bool all = true;
  bool readable = true;
  each(selector, "matchExpressions", [&](const Object& expression, std::size_t) {
    const auto matches = expression_matches(expression, labels);
    readable = readable && matches.has_value();
    all = all && matches.value_or(false);
  });
  if (!readable) return std::nullopt;
  return all;
}

bool is_valid_selector(const Object& selector, const std::string& path) {
  FieldErrors errors;
  validate_label_selector(selector, path, errors);
  return errors.empty();
}

void validate_workload_selector(const Object& spec, std::string_view kind, bool required, FieldErrors& errors) {
  const Object* selector = get_object(spec, "selector");
  if (selector == nullptr) {
    if (required) errors.required("spec.selector");
    return;
  }
  validate_label_selector(*selector, "spec.selector", errors);
  if (is_empty_selector(*selector)) {
    errors.invalid_raw("spec.selector", to_json(*selector), "empty selector is invalid for " + std::string(kind));
  }
}

void validate_workload_template(const Object& spec, const PodValidationOptions& options, FieldErrors& errors) {
  const Object* selector = get_object(spec, "selector");
  const Object& pod_template = object_or_empty(spec, "template");
  const Value* labels = find_path(pod_template, {"metadata", "labels"});
  const bool readable = selector == nullptr || is_valid_selector(*selector, "spec.selector");
  const bool matches = selector != nullptr &&
                       (is_empty_selector(*selector) || selector_matches(*selector, labels ? labels->if_object() : nullptr).value_or(true));
  // An empty selector has already been refused. A missing selector matches nothing.
  if (readable && !matches) {
    errors.invalid_raw("spec.template.metadata.labels", labels ? to_json(*labels) : "null", "`selector` does not match template `labels`");
  }
  validate_pod_template(pod_template, "spec.template", options, errors);
}

void validate_always_restarts(const Object& spec, std::string_view kind, FieldErrors& errors) {
  const std::string_view policy = get_string_path(spec, "template.spec.restartPolicy");
  if (policy != "Always") errors.not_supported("spec.template.spec.restartPolicy", policy, {"Always"});
  if (find_path(spec, "template.spec.activeDeadlineSeconds") != nullptr) {
    errors.forbidden("spec.template.spec.activeDeadlineSeconds", "activeDeadlineSeconds in " + std::string(kind) + " is not Supported");
  }
}

}  // namespace backplane::workload
