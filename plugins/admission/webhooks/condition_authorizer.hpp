// The authorizer behind the variable `authorizer` of match conditions: the server's authorizers, asked as the user of the write.
//
// Expressions run without waiting. A check whose authorizers answer at once (RBAC) is answered inside the run. Any other check fails the
// run and is recorded; resolve() then asks for it, and the caller runs the expressions again with the known answers.
// Thread-safety: belongs to one request.
// Lifetime:      the host and the authorizers outlive it.
// Errors:        AccessAnswer::error, which makes the expression fail.
// Source:        k8s.io/apiserver/pkg/cel/library/authz.go.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "backplane/host.hpp"
#include "backplane/points/authorization.hpp"
#include "backplane/types/cel_authorizer.hpp"

namespace backplane::admission::webhooks {

class ConditionAuthorizer final : public cel::Authorizer {
 public:
  ConditionAuthorizer(backplane::Authorizer& authorizers, UserRef user) : authorizers_(authorizers), user_(std::move(user)) {}

  cel::AccessAnswer check(const cel::AccessQuestion& question) const override;
  // True if a check of the last run could not be answered at once.
  bool has_open_checks() const noexcept { return !open_.empty(); }
  // Answers the recorded checks.
  Task<void> resolve();

 private:
  AuthorizationAttributes attributes_of(const cel::AccessQuestion& question) const;

  backplane::Authorizer& authorizers_;
  const UserRef user_;
  // By the text of the check.
  mutable std::map<std::string, AuthorizationAttributes> open_;
  std::map<std::string, cel::AccessAnswer> known_;
};

}  // namespace backplane::admission::webhooks
