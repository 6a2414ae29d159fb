#include "former_versions.hpp"

#include <algorithm>

#include "backplane/core/json_access.hpp"

namespace backplane::policy {
namespace {

// No pod has this label. A selector that requires it matches no pod, and a selector that requires its absence matches all pods.
constexpr std::string_view kLabel = "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match";

bool is_own(const Value& expression) { return expression.is_object() && get_string(expression.get_object(), "key") == kLabel; }

// Returns true if the only requirement of the selector is that the label is absent.
bool matches_all(const Object& selector, const Array& expressions) {
  return object_or_empty(selector, "matchLabels").empty() && expressions.size() == 1 && is_own(expressions.front()) &&
         get_string(expressions.front().get_object(), "operator") == "DoesNotExist" &&
         count_of(expressions.front().get_object(), "values") == 0;
}

}  // namespace

Status budget_from_v1beta1(Object& budget) {
  Object* spec = mutable_object(budget, "spec");
  Object* selector = spec != nullptr ? mutable_object(*spec, "selector") : nullptr;
  if (selector == nullptr) return {};
  const Array* found = get_array(*selector, "matchExpressions");
  const Array expressions = found != nullptr ? *found : Array();
  if (expressions.empty() && object_or_empty(*selector, "matchLabels").empty()) {
    (*selector)["matchExpressions"] = Array{Object{{"key", kLabel}, {"operator", "Exists"}}};
  } else if (matches_all(*selector, expressions)) {
    (*spec)["selector"] = Object();
  } else if (std::any_of(expressions.begin(), expressions.end(), is_own)) {
    Array others;
    std::remove_copy_if(expressions.begin(), expressions.end(), std::back_inserter(others), is_own);
    (*selector)["matchExpressions"] = std::move(others);
  }
  return {};
}

}  // namespace backplane::policy
