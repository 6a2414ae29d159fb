// Authentication, authorization and token authentication of the server, which can be replaced as a whole while requests run. A call that
// has begun uses the former ones, which are destroyed after their last call.
//
// Thread-safety: every method from any thread.
// Lifetime:      outlives the plugins and the handler chain.
// Errors:        kServiceUnavailable before the first publish().
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
  // From now on calls return the errors of the time before the first publish().
  void withdraw() { authorization_.set(nullptr); }
  // Null before publish().
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
