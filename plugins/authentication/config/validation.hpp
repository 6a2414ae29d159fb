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
  // Issuers that entries must not have, because other authenticators verify their tokens (--service-account-issuer).
  std::vector<std::string> disallowed_issuers;
  // The gate StructuredAuthenticationConfigurationEgressSelector.
  bool egress_selector_gate = true;
};

struct ValidatedConfig {
  FieldErrors errors;
  // One item for each entry of `jwt`. Usable only if there are no errors.
  std::vector<ClaimExpressions> expressions;
};

ValidatedConfig validate(const AuthenticationConfiguration& config, const ValidationOptions& options);

}  // namespace backplane::authentication
