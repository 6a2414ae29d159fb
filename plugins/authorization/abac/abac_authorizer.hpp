// The authorizer "ABAC": allows what a rule of the policy matches.
//
// Thread-safety: any thread; decides without waiting. The policy does not change.
// Source:        kubernetes pkg/auth/authorizer/abac/abac.go.
#pragma once

#include "abac/policy.hpp"
#include "backplane/points/authorization.hpp"

namespace backplane::authorization {

class AbacAuthorizer final : public Authorizer, public RuleResolver {
 public:
  explicit AbacAuthorizer(std::vector<AbacRule> rules) : rules_(std::move(rules)) {}

  std::string_view name() const noexcept override { return "ABAC"; }
  std::optional<AuthorizerResult> decide_now(const RequestView& request) const override;
  RuleResolver* rule_resolver() noexcept override { return this; }
  Task<RuleList> rules_for(UserInfo user, std::string ns) override;

 private:
  const std::vector<AbacRule> rules_;
};

}  // namespace backplane::authorization
