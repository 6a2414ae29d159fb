// Scopes of a quota (v1.ScopedResourceSelectorRequirement): conditions on the objects that it counts.
//
// Thread-safety: pure functions.
// Errors:        a selector that cannot be converted to a label selector.
// Source:        k8s.io/kubernetes/pkg/apis/core/v1/helper (ScopedResourceSelectorRequirementsAsSelector).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"

namespace backplane::admission::quota {

struct ScopeSelector {
  std::string scope;
  std::string op;  // In, NotIn, Exists, DoesNotExist
  std::vector<std::string> values;
  bool operator==(const ScopeSelector&) const = default;
};
using ScopeSelectors = std::vector<ScopeSelector>;

// One entry of matchExpressions or matchScopes.
ScopeSelector read_scope_selector(const Object& object);
// spec.scopes and spec.scopeSelector of a quota.
ScopeSelectors scopes_of_quota(const Object& quota);

// Whether an object whose class (priorityClassName …) is `value` matches; nullopt: the object has no class.
// Errors: an unknown operator; values that the operator does not accept or that are not label values.
Result<bool> matches_value(const ScopeSelector& selector, std::optional<std::string_view> value);

// The selector as Go prints the struct: "{PriorityClass In [high low]}".
std::string printed_scope(const ScopeSelector& selector);

}  // namespace backplane::admission::quota
