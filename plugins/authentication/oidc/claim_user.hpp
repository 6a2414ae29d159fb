// Maps verified claims to a user, and checks the rules for claims and users.
//
// Thread-safety: immutable; any thread.
// Errors:        kUnauthorized with upstream's texts.
// Source:        k8s.io/apiserver/plugin/pkg/authenticator/token/oidc (jwtAuthenticator).
#pragma once

#include "backplane/core/json.hpp"
#include "backplane/core/request.hpp"
#include "backplane/core/status.hpp"
#include "config/authentication_config.hpp"
#include "config/claim_expressions.hpp"

namespace backplane::authentication {

class ClaimUser {
 public:
  ClaimUser(JwtConfig config, ClaimExpressions expressions) : config_(std::move(config)), expressions_(std::move(expressions)) {}

  Result<UserInfo> user_of(const Object& claims) const;

 private:
  Result<std::string> username(const Object& claims, const ClaimsValue* values) const;
  Result<std::vector<std::string>> groups(const Object& claims, const ClaimsValue* values) const;
  Result<std::string> uid(const Object& claims, const ClaimsValue* values) const;
  Status add_extra(const Object& claims, const ClaimsValue* values, UserInfo& user) const;
  Status check_required(const Object& claims) const;

  const JwtConfig config_;
  const ClaimExpressions expressions_;
};

}  // namespace backplane::authentication
