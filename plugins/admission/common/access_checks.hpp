// The variable `authorizer` in the expressions of policies and in the match conditions of webhooks. A check uses a decision of an earlier
// check, or calls authorizers that need not wait. If an authorizer must wait, the check is recorded; the caller awaits wait() and evaluates
// again.
//
// Thread-safety: one request.
// Lifetime:      borrows host and attributes.
// Errors:        errors of authorizers are errors of the check.
// Source:        k8s.io/apiserver/pkg/cel/library/authz.go, pkg/admission/plugin/authorizer.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "backplane/host.hpp"
#include "backplane/points/admission.hpp"
#include "backplane/points/authorization.hpp"
#include "backplane/types/cel_authorizer.hpp"

namespace backplane::admission {

class AccessChecks final : public cel::Authorizer {
 public:
  AccessChecks(Host& host, UserRef user) : host_(host), user_(std::move(user)) {}

  cel::AccessAnswer check(const cel::AccessQuestion& question) const override;
  // True if a check of the last evaluation has no decision yet.
  bool waits() const noexcept { return !unanswered_.empty(); }
  Task<void> wait();

 private:
  using Answers = std::map<std::string, cel::AccessAnswer, std::less<>>;

  Host& host_;
  const UserRef user_;
  mutable Answers answers_;
  mutable std::vector<std::pair<std::string, AuthorizationAttributes>> unanswered_;
};

}  // namespace backplane::admission
