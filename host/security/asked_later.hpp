// What plugins ask before and after there is an answer: stands in for the composed authorizer and authenticators from the first moment of
// the start, when the plugins that make them up are not loaded yet.
//
// Thread-safety: answer() once; everything else from any thread.
// Lifetime:      outlives the plugins; what it was given outlives every call.
// Errors:        kServiceUnavailable before answer().
#pragma once

#include <atomic>

#include "security/authentication.hpp"
#include "security/authorization.hpp"

namespace backplane {

class LateAuthorizer final : public Authorizer, public RuleResolver {
 public:
  void answer(Authorization& authorization) noexcept { authorization_.store(&authorization, std::memory_order_release); }
  std::string_view name() const noexcept override { return "union"; }
  std::optional<AuthorizerResult> decide_now(const RequestView& request) const override;
  RuleResolver* rule_resolver() noexcept override { return this; }
  Task<AuthorizerResult> authorize(const AuthorizationAttributes& attributes) override;
  Task<RuleList> rules_for(UserInfo user, std::string ns) override;

 private:
  std::atomic<Authorization*> authorization_{nullptr};
};

class LateTokenAuthenticator final : public TokenAuthenticator {
 public:
  void answer(TokenAuthenticator& tokens) noexcept { tokens_.store(&tokens, std::memory_order_release); }
  std::string_view name() const noexcept override { return "union"; }
  Task<AuthenticationResult> authenticate_token(std::string token, std::vector<std::string> audiences) override;

 private:
  std::atomic<TokenAuthenticator*> tokens_{nullptr};
};

}  // namespace backplane
