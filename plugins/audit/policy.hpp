// An audit policy (audit.k8s.io/v1 Policy), compiled: the first rule that matches a request decides.
//
// Thread-safety: immutable; decide() from any thread.
// Lifetime:      as AuditPolicy.
// Errors:        none.
// Source:        k8s.io/apiserver/pkg/audit/policy/checker.go.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backplane/points/audit.hpp"

namespace backplane::audit {

// A set of strings that is searched for each request. The set is usually small, so a scan is faster than a hash table. A large set is
// sorted.
class StringSet {
 public:
  StringSet() = default;
  explicit StringSet(std::vector<std::string> strings);
  bool empty() const noexcept { return strings_.empty(); }
  bool contains(std::string_view text) const noexcept;

 private:
  std::vector<std::string> strings_;
  bool sorted_ = false;
};

// One member of `resources` of a rule.
struct ResourcesRule {
  std::string group;       // "*": any
  StringSet names;         // resourceNames
  bool any = false;        // no resources, or "*" among them
  StringSet exact;         // "pods", "pods/log"
  StringSet subresources;  // "status" of "*/status"
  StringSet parents;       // "pods" of "pods/*"

  bool matches(const RequestView& request) const;
};

struct PolicyRule {
  AuditDecision decision;
  StringSet users, groups, verbs, namespaces;
  bool of_resources = false;  // has namespaces or resources
  std::vector<ResourcesRule> resources;
  StringSet paths;                      // nonResourceURLs
  std::vector<std::string> path_heads;  // nonResourceURLs that end in "*", without the "*"
  bool of_paths = false;

  bool matches(const RequestView& request) const;
};

class CompiledPolicy final : public AuditPolicy {
 public:
  // `otherwise`: the decision for requests that no rule matches.
  CompiledPolicy(std::vector<PolicyRule> rules, AuditDecision otherwise) : rules_(std::move(rules)), otherwise_(otherwise) {}
  AuditDecision decide(const RequestView& request) const override;

 private:
  const std::vector<PolicyRule> rules_;
  const AuditDecision otherwise_;
};

}  // namespace backplane::audit
