// The content of --authentication-config: AuthenticationConfiguration of apiserver.config.k8s.io.
//
// Thread-safety: values; pure functions.
// Errors:        kBadRequest with the text of upstream's decoder.
// Source:        k8s.io/apiserver/pkg/apis/apiserver/v1.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/status.hpp"

namespace backplane::authentication {

struct IssuerConfig {
  std::string url, discovery_url;
  std::string certificate_authority;  // PEM; empty: the system's trust store
  std::vector<std::string> audiences;
  std::string audience_match_policy, egress_selector_type;
};

// Requires that a claim has a value, or that an expression over all claims is true.
struct ClaimValidationRule {
  std::string claim, required_value, expression, message;
};

struct ClaimMapping {
  std::string claim;
  std::optional<std::string> prefix;
  std::string expression;
};

struct ExtraMapping {
  std::string key, expression;
};

struct UserValidationRule {
  std::string expression, message;
};

struct JwtConfig {
  IssuerConfig issuer;
  std::vector<ClaimValidationRule> claim_rules;
  ClaimMapping username, groups, uid;  // uid has no prefix
  std::vector<ExtraMapping> extra;
  std::vector<UserValidationRule> user_rules;
};

struct AnonymousConfig {
  bool enabled = false;
  std::vector<std::string> paths;  // the paths of `conditions`; empty: every path
  bool operator==(const AnonymousConfig&) const = default;
};

struct AuthenticationConfiguration {
  std::vector<JwtConfig> jwt;
  std::optional<AnonymousConfig> anonymous;
};

// Decodes v1, v1beta1 and v1alpha1.
Result<AuthenticationConfiguration> decode_authentication_config(std::string_view text);

}  // namespace backplane::authentication
