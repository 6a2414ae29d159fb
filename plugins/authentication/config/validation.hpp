// Validation of an AuthenticationConfiguration, and the compiled expressions of a valid one.
//
// Thread-safety: pure functions.
// Errors:        those of upstream, with paths that begin with "jwt[0]".
// Source:        k8s.io/apiserver/pkg/apis/apiserver/validation.
#pragma once

#include <string>
#include <vector>

#include "backplane/core/status.hpp"
#include "config/authentication_config.hpp"
#include "config/claim_expressions.hpp"

namespace backplane::authentication {

struct ValidationOptions {
  // Issuers of other authenticators (--service-account-issuer).
  std::vector<std::string> disallowed_issuers;
  // StructuredAuthenticationConfigurationEgressSelector.
  bool egress_selector_gate = true;
};

struct ValidatedConfig {
  FieldErrors errors;
  // For each entry of `jwt`; usable if there are no errors.
  std::vector<ClaimExpressions> expressions;
};

ValidatedConfig validate(const AuthenticationConfiguration& config, const ValidationOptions& options);

}  // namespace backplane::authentication
