// The match constraints of policies and bindings (MatchResources), and the part of them that concerns writes of one resource.
//
// Thread-safety: immutable after construction; any thread.
// Lifetime:      a ResolvedMatch borrows the MatchResources from which it was made.
// Errors:        MatchResources::problem.
// Source:        k8s.io/apiserver/pkg/admission/plugin/policy/matching and …/webhook/predicates.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/selectors.hpp"
#include "backplane/points/admission.hpp"
#include "common/resource_rules.hpp"
#include "common/served_as.hpp"

namespace backplane::admission::policies {

struct MatchResources {
  LabelSelector namespaces, objects;
  std::vector<ResourceRule> rules, excluded;
  bool equivalent = false;
  std::string problem;  // not empty: the selectors cannot be used
};
MatchResources read_match_resources(const Object& match);

// The resource of a write, and its equivalent resources.
struct WrittenResource {
  GroupVersionResource resource;
  std::string subresource;
  std::vector<ServedAs> equivalents;
};

// A rule that names the resource of a write, or an equivalent resource.
struct ResolvedRule {
  const ResourceRule* rule = nullptr;
  const ServedAs* as = nullptr;  // null: the resource of the write
};

struct ResolvedMatch {
  const MatchResources* match = nullptr;  // null: everything matches
  std::vector<ResolvedRule> rules, excluded;
  // False: no write of the resource can match.
  bool possible() const noexcept { return match == nullptr || match->rules.empty() || !rules.empty() || !match->problem.empty(); }
};
ResolvedMatch resolve(const MatchResources* match, const WrittenResource& written);

// The first rule that matches the write; null: none.
const ResolvedRule* find_rule(const std::vector<ResolvedRule>& rules, const AdmissionAttributes& attributes) noexcept;

}  // namespace backplane::admission::policies
