#include "quota/scopes.hpp"

#include <algorithm>

#include "backplane/core/json_access.hpp"
#include "backplane/types/names.hpp"

namespace backplane::admission::quota {
namespace {

Status unusable(std::string why) { return Status(500, Reason::kNone, "failed to parse and convert selector: " + std::move(why)); }

std::string print_values(const std::vector<std::string>& values) {
  std::string out = "[";
  for (const std::string& value : values) out += (out.size() > 1 ? " " : "") + value;
  return out + "]";
}

Status check_values(const ScopeSelector& selector, bool takes_values) {
  if (takes_values && selector.values.empty()) {
    return unusable("values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty");
  }
  if (!takes_values && !selector.values.empty())
    return unusable("values: Invalid value: values set must be empty for exists and does not exist");
  for (std::size_t i = 0; i < selector.values.size(); ++i) {
    const Problems problems = is_valid_label_value(selector.values[i]);
    if (problems.empty()) continue;
    return unusable("values[" + std::to_string(i) + "][" + selector.scope + "]: Invalid value: " + quoted(selector.values[i]) + ": " +
                    problems.front());
  }
  return {};
}

}  // namespace

ScopeSelector read_scope_selector(const Object& object) {
  return {std::string(get_string(object, "scopeName")), std::string(get_string(object, "operator")), texts_of(object, "values")};
}

ScopeSelectors scopes_of_quota(const Object& quota) {
  const Object& spec = object_or_empty(quota, "spec");
  ScopeSelectors out;
  each_text(spec, "scopes", [&](std::string_view scope, std::size_t) { out.push_back({std::string(scope), "Exists", {}}); });
  each(object_or_empty(spec, "scopeSelector"), "matchExpressions",
       [&](const Object& item, std::size_t) { out.push_back(read_scope_selector(item)); });
  return out;
}

Result<bool> matches_value(const ScopeSelector& selector, std::optional<std::string_view> value) {
  const bool is_in = selector.op == "In", is_not_in = selector.op == "NotIn";
  const bool exists = selector.op == "Exists", is_absent = selector.op == "DoesNotExist";
  if (!is_in && !is_not_in && !exists && !is_absent) return unusable(quoted(selector.op) + " is not a valid scope selector operator");
  Status usable = check_values(selector, is_in || is_not_in);
  if (!usable.ok()) return usable;
  if (exists) return value.has_value();
  if (is_absent) return !value.has_value();
  const bool listed = value && std::find(selector.values.begin(), selector.values.end(), *value) != selector.values.end();
  return is_in ? listed : !listed;
}

std::string printed_scope(const ScopeSelector& selector) {
  return "{" + selector.scope + " " + selector.op + " " + print_values(selector.values) + "}";
}

}  // namespace backplane::admission::quota
