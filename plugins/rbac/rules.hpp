// Policy rules: reading them from objects, and the difference of two sets of rules.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/json.hpp"

namespace backplane::rbac {

struct PolicyRule {
  std::vector<std::string> verbs, api_groups, resources, resource_names, urls;
  bool operator==(const PolicyRule&) const = default;
};
using PolicyRules = std::vector<PolicyRule>;

// The member `rules` of a role.
PolicyRules rules_of(const Object& role);
PolicyRules rules_in(const Array& rules);
Array to_json_rules(const PolicyRules& rules);

// True if `prefix`, which may end in `*`, allows `url`.
bool matches_url(std::string_view prefix, std::string_view url) noexcept;

// The permissions that `wanted` grants and no rule of `have` grants, as rules with one verb each, for one resource of one group, with one
// name if there are names, or for one URL (upstream: validation.Covers).
PolicyRules missing_rules(const PolicyRules& have, const PolicyRules& wanted);

// The lines in which an escalation error lists missing rules: verbs of the same resource together, sorted (upstream: CompactRules and
// CompactString).
std::vector<std::string> described(const PolicyRules& missing);

}  // namespace backplane::rbac
