// The authorizer RBAC: decides by the stored roles and bindings (upstream: plugin/pkg/auth/authorizer/rbac).
//
// Four informers keep a CompiledPolicy up to date. Until all of them have synced, the authorizer has no opinion and lists no rules.
//
// Thread-safety: decisions from any thread; the informers' handlers run on the plugin's executor.
// Lifetime:      shared with the host and with the storages of the group.
// Errors:        none; references to missing roles become part of the reason of a refusal and of RuleList::error.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "backplane/host.hpp"
#include "backplane/net/informer.hpp"
#include "backplane/points/authorization.hpp"
#include "compiled_policy.hpp"

namespace backplane::rbac {

class RbacAuthorizer final : public Authorizer, public RuleResolver {
 public:
  std::string_view name() const noexcept override { return "RBAC"; }
  std::optional<AuthorizerResult> decide_now(const RequestView& request) const override { return policy_.decide(request); }
  RuleResolver* rule_resolver() noexcept override { return this; }
  Task<RuleList> rules_for(UserInfo user, std::string ns) override;

  // Starts the informers, once; on the plugin's executor.
  void start(Host& host);
  // Waits until decisions take the stored objects into account. Returns false if the server stops first.
  Task<bool> wait_synced();

  // Returns the rules of the user as policy rules, and the roles that are missing.
  UserRules policy_rules_for(const UserInfo& user, std::string_view ns) const { return policy_.rules_for(user, ns); }

 private:
  CompiledPolicy policy_;
  std::unique_ptr<SharedInformerFactory> informers_;
};

}  // namespace backplane::rbac
