#include "security/asked_later.hpp"

namespace backplane {
namespace {

Status too_early() { return service_unavailable("the server has not started: ask in a hook or in a request"); }

}  // namespace

std::optional<AuthorizerResult> LateAuthorizer::decide_now(const RequestView& request) const {
  const Authorization* authorization = authorization_.load(std::memory_order_acquire);
  if (authorization == nullptr) return AuthorizerResult{Decision::kNoOpinion, "", too_early()};
  return authorization->decide_now(request);
}

Task<AuthorizerResult> LateAuthorizer::authorize(const AuthorizationAttributes& attributes) {
  Authorization* authorization = authorization_.load(std::memory_order_acquire);
  if (authorization == nullptr) co_return AuthorizerResult{Decision::kNoOpinion, "", too_early()};
  AuthorizerResult result = co_await authorization->authorize(attributes);
  co_return result;
}

Task<RuleList> LateAuthorizer::rules_for(UserInfo user, std::string ns) {
  Authorization* authorization = authorization_.load(std::memory_order_acquire);
  RuleList rules;
  rules.incomplete = true;
  rules.error = too_early();
  if (authorization != nullptr) rules = co_await authorization->rules_for(std::move(user), std::move(ns));
  co_return rules;
}

Task<AuthenticationResult> LateTokenAuthenticator::authenticate_token(std::string token, std::vector<std::string> audiences) {
  TokenAuthenticator* tokens = tokens_.load(std::memory_order_acquire);
  if (tokens == nullptr) co_return too_early();
  auto known = co_await tokens->authenticate_token(std::move(token), std::move(audiences));
  co_return known;
}

}  // namespace backplane
