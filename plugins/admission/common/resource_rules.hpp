// Rules of webhook configurations and policies: operations, group versions, resources with subresources, scope and names.
//
// Thread-safety: a ResourceRule is a value; matching is a pure function.
// Errors:        none; a rule that validation refuses never matches.
// Source:        k8s.io/apiserver/pkg/admission/plugin/webhook/predicates/rules, …/plugin/policy/matching.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/points/admission.hpp"

namespace backplane::admission {

// A set of operations; bit N is the operation of value N.
using OperationSet = unsigned char;
constexpr OperationSet operation_bit(AdmissionOperation operation) noexcept {
  return static_cast<OperationSet>(1U << static_cast<unsigned>(operation));
}

// admissionregistration.k8s.io RuleWithOperations and NamedRuleWithOperations.
struct ResourceRule {
  enum class Scope : unsigned char { kAll, kCluster, kNamespaced, kUnknown };
  struct Resource {
    std::string resource, subresource;  // "*": any
  };
  OperationSet operations = 0;
  Scope scope = Scope::kAll;
  std::vector<std::string> groups, versions;
  std::vector<Resource> resources;
  std::vector<std::string> names;  // empty: any
};

ResourceRule read_resource_rule(const Object& rule);
std::vector<ResourceRule> read_resource_rules(const Object& parent, std::string_view key);

// The two parts of a match. The result of names_resource() is equal for all writes of a resource; admits_write() checks the rest.
// `resource`: the resource of the write, or an equivalent resource.
bool names_resource(const ResourceRule& rule, const GroupVersionResource& resource, std::string_view subresource) noexcept;
bool admits_write(const ResourceRule& rule, const GroupVersionResource& resource, const AdmissionAttributes& attributes) noexcept;

}  // namespace backplane::admission
