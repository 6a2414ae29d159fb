// Evaluates one validating policy with one parameter for one write.
//
// Thread-safety: one request.
// Errors:        part of the result; a result of an attempt that waits (PolicyRequest::waits) is to be dropped.
// Source:        k8s.io/apiserver/pkg/admission/plugin/policy/validating/validator.go.
#pragma once

#include <string>
#include <vector>

#include "policies/policy_request.hpp"

namespace backplane::admission::policies {

struct PolicyDecision {
  bool denies = false;
  bool failed = false;  // the expression could not be evaluated
  std::string message;
  Reason reason = Reason::kNone;
  double seconds = 0;  // the duration of the evaluation
};
struct AnnotationResult {
  const AuditAnnotation* annotation = nullptr;
  std::string value;  // empty: nothing is published
  std::string error;  // not empty: the write is refused
  double seconds = 0;
};
struct ValidationResult {
  std::vector<PolicyDecision> decisions;  // in the order of the validations
  std::vector<AnnotationResult> annotations;
};

ValidationResult validate_policy(const Policy& policy, PolicyRequest& request, const NamedObjects& objects, const ObjectTreeRef& params);

}  // namespace backplane::admission::policies
