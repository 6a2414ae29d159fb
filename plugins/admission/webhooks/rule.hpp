// The rules of a webhook: operations, group versions, resources with subresources, and scope.
//
// Thread-safety: a Rule is a value; matching is a pure function.
// Errors:        none; what validation of the configuration refuses never matches.
// Source:        k8s.io/apiserver/pkg/admission/plugin/webhook/predicates/rules.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/points/admission.hpp"

namespace backplane::admission::webhooks {

// A set of operations; bit N is the operation of value N.
using OperationSet = unsigned char;
constexpr OperationSet operation_bit(AdmissionOperation operation) noexcept {
  return static_cast<OperationSet>(1U << static_cast<unsigned>(operation));
}

// admissionregistration.k8s.io RuleWithOperations.
struct Rule {
  enum class Scope : unsigned char { kAll, kCluster, kNamespaced, kUnknown };
  struct Resource {
    std::string resource, subresource;  // "*": any
  };
  OperationSet operations = 0;
  std::vector<std::string> groups, versions;
  std::vector<Resource> resources;
  Scope scope = Scope::kAll;
};

Rule read_rule(const Object& rule);
// `ns`: of the request; for a namespace object it is its name.
bool rule_matches(const Rule& rule, AdmissionOperation operation, const GroupVersionResource& resource, std::string_view subresource,
                  std::string_view ns);

}  // namespace backplane::admission::webhooks
