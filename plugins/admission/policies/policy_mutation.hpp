// One pass of the mutating policies over one write: selects the policies, evaluates their conditions, and applies their mutations.
//
// Thread-safety: one write.
// Lifetime:      source and attributes outlive the task.
// Errors:        the refusal of the first policy that does not ignore its failure; 504 if the request's deadline has passed.
// Source:        k8s.io/apiserver/pkg/admission/plugin/policy/mutating/dispatcher.go.
#pragma once

#include <memory>

#include "backplane/points/admission.hpp"
#include "policies/policy_index.hpp"
#include "policies/policy_source.hpp"

namespace backplane::admission::policies {

// `targets`: of the written resource in `index`.
Task<Status> mutate_by_policies(PolicySource& source, AdmissionAttributes& attributes, std::shared_ptr<const PolicyIndex> index,
                                std::shared_ptr<const ResourceTargets> targets);

}  // namespace backplane::admission::policies
