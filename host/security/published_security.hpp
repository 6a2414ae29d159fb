// The authentication, the authorization and the token authentication of the server. Each can be replaced while requests run. A call that
// has begun uses the former object, which is destroyed after its last call.
//
// Thread-safety: any thread.
// Lifetime:      outlives the plugins and the handler chain.
// Errors:        kServiceUnavailable before the first publish() and after withdraw().
#pragma once

#include <memory>

#include "backplane/kit/published.hpp"
#include "security/authentication.hpp"
#include "security/authorization.hpp"

namespace backplane {

class PublishedAuthentication final : public Authentication {
 public:
  void publish(std::shared_ptr<const Authentication> authentication) { authentication_.set(std::move(authentication)); }
  std::optional<Result<UserRef>> authenticate_now(RequestContext& context, Exchange& exchange) const override;
  Task<Result<UserRef>> authenticate(RequestContext& context, Exchange& exchange) const override;

 private:
  kit::Published<Authentication> authentication_{nullptr};
};

class PublishedAuthorizer final : public ResumableAuthorizer, public RuleResolver {
 public:
  void publish(std::shared_ptr<Authorization> authorization) {
    authorization_.set(std::make_shared<const std::shared_ptr<Authorization>>(std::move(authorization)));
  }
  // From now on, calls return the same errors as before the first publish().
  void withdraw() { authorization_.set(nullptr); }
  // Returns null before the first publish() and after withdraw().
  std::shared_ptr<Authorization> current() const {
    const auto published = authorization_.get();
    return published ? *published : nullptr;
  }
  std::string_view name() const noexcept override { return "union"; }
  std::optional<AuthorizerResult> decide_now(const RequestView& request) const override;
  std::optional<AuthorizerResult> begin(const RequestView& request, std::shared_ptr<PendingAuthorization>& pending) const override;
  Task<AuthorizerResult> finish(const AuthorizationAttributes& attributes, std::shared_ptr<PendingAuthorization> pending) override;
  RuleResolver* rule_resolver() noexcept override { return this; }
  Task<AuthorizerResult> authorize(const AuthorizationAttributes& attributes) override;
  Task<RuleList> rules_for(UserInfo user, std::string ns) override;

 private:
  kit::Published<std::shared_ptr<Authorization>> authorization_{nullptr};
};

class PublishedTokenAuthenticator final : public TokenAuthenticator {
 public:
  void publish(std::shared_ptr<TokenAuthenticator> tokens) {
    tokens_.set(std::make_shared<const std::shared_ptr<TokenAuthenticator>>(std::move(tokens)));
  }
  void withdraw() { tokens_.set(nullptr); }
  std::string_view name() const noexcept override { return "union"; }
  Task<AuthenticationResult> authenticate_token(std::string token, std::vector<std::string> audiences) override;

 private:
  kit::Published<std::shared_ptr<TokenAuthenticator>> tokens_{nullptr};
};

}  // namespace backplane
