// Policy rules prepared for decisions.
//
// Thread-safety: immutable.
// Lifetime:      a WantedAccess borrows the texts of the request.
#pragma once

#include <string_view>
#include <vector>

#include "backplane/points/authorization.hpp"
#include "rules.hpp"

namespace backplane::rbac {

// A request in the form that rules are compared with.
struct WantedAccess {
  explicit WantedAccess(const RequestView& request) noexcept
      : verb(request.verb),
        resource_request(request.resource_request),
        group(request.api_group),
        resource(request.resource),
        subresource(request.subresource),
        name(request.name),
        path(request.path) {}
  std::string_view verb;
  bool resource_request;
  std::string_view group, resource, subresource, name, path;
};

// One rule (upstream: RuleAllows).
class RuleMatcher {
 public:
  explicit RuleMatcher(PolicyRule rule);
  bool allows(const WantedAccess& wanted) const noexcept;
  const PolicyRule& rule() const noexcept { return rule_; }

 private:
  bool allows_resource(const WantedAccess& wanted) const noexcept;

  PolicyRule rule_;
  // True if the list contains "*".
  bool all_verbs_, all_groups_, all_resources_;
  bool subresource_wildcards_;  // a resource begins with "*/"
};

// The rules of one role.
using RoleRules = std::vector<RuleMatcher>;
RoleRules matchers_of(PolicyRules rules);

}  // namespace backplane::rbac
