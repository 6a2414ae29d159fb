// The decisions of the validating policies about one write, and their effects: warnings, audit annotations, metrics, the refusal.
//
// Thread-safety: one request.
// Lifetime:      borrows attributes; policies and bindings are shared.
// Source:        Dispatch of k8s.io/apiserver/pkg/admission/plugin/policy/validating/dispatcher.go.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backplane/core/logger.hpp"
#include "policies/validator.hpp"

namespace backplane::admission::policies {

class ValidationOutcome {
 public:
  ValidationOutcome(const AdmissionAttributes& attributes, Logger& logger) : attributes_(attributes), logger_(logger) {}

  // Adds the problem of a policy, or of its binding, that cannot be configured.
  void add_problem(const Policy& policy, const Binding* binding, const std::string& problem);
  // Adds the results of a binding's evaluations, one for each parameter.
  void add_results(const Policy& policy, const Binding& binding, const std::vector<ValidationResult>& results);
  // Ends a policy: publishes the annotations of its bindings.
  void end_policy(const Policy& policy);
  // The refusal of the write; ok: it is allowed.
  Status refusal() const;

 private:
  void add_decision(const Policy& policy, const Binding& binding, const PolicyDecision& decision, std::size_t place);
  void add_annotation(const Policy& policy, const Binding& binding, const AnnotationResult& result);
  void deny(const Policy& policy, const Binding* binding, std::string message, Reason reason);
  void annotate(const std::string& key, std::string value, const Policy& policy);

  const AdmissionAttributes& attributes_;
  Logger& logger_;
  bool denied_ = false;
  std::string message_;  // the message of the first refusal
  Reason reason_ = Reason::kInvalid;
  std::vector<std::pair<std::string, std::vector<std::string>>> annotations_;  // the annotations of the current policy
};

}  // namespace backplane::admission::policies
