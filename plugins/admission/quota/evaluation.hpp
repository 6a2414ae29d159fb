// Compares one write with the quotas of its namespace: the charges to the quotas, or the reason for a refusal.
//
// Thread-safety: pure functions.
// Lifetime:      an Evaluation refers to objects of the write; charges are values.
// Errors:        upstream's: 403 with the quota's name, 500 for scopes.
// Source:        k8s.io/apiserver/pkg/admission/plugin/resourcequota/controller.go (CheckRequest).
#pragma once

#include <string>
#include <vector>

#include "backplane/core/object.hpp"
#include "backplane/points/admission.hpp"
#include "quota/evaluator.hpp"
#include "quota/limits_config.hpp"

namespace backplane::admission::quota {

// A ResourceQuota as it is stored.
struct Quota {
  ObjectRef stored;
  std::string name;
  ScopeSelectors scopes;
  ResourceList hard;  // status.hard
  ResourceList used;  // status.used
};
Quota read_quota(ObjectRef stored);
// Whether the two differ only in the usage, so that a decision by one also holds for the other.
bool same_rules(const Quota& a, const Quota& b);

// The addition of a write to the usage of a quota.
struct Charge {
  Quota quota;
  ResourceList requested;
  bool limited = true;  // false: the usage is recorded even if it is above the limit
};

// One write, with its objects in the version that evaluators read.
struct Evaluation {
  const AdmissionAttributes& attributes;
  const Evaluator& evaluator;
  const LimitedResources& limits;
  Subject object;
  Subject old_object;  // null object: the write creates
};

// The charges of the write, even if the quotas have no room for them.
// Errors: the write lacks something that a quota requires.
Result<std::vector<Charge>> charges_of(const Evaluation& write, const std::vector<Quota>& quotas);

// The usage of the quota after the charge.
struct ChargedUsage {
  ResourceList used;
  std::string refusal;  // "exceeded quota: …"; empty: the quota is not exceeded
};
// Adds the charge to the usage of the quota.
ChargedUsage usage_with(const Charge& charge, const Quota& quota);
// The error for the client about the first exceeded quota.
Status check_room(const AdmissionAttributes& attributes, const std::vector<Charge>& charges);

}  // namespace backplane::admission::quota
