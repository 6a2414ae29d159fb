#include "security/published_security.hpp"

namespace backplane {
namespace {

Status too_early() { return service_unavailable("the server has not started; call this in a post-start hook or in a request"); }

}  // namespace

std::optional<Result<UserRef>> PublishedAuthentication::authenticate_now(RequestContext& context, Exchange& exchange) const {
  const auto authentication = authentication_.get();
  if (authentication == nullptr) return Result<UserRef>(too_early());
  return authentication->authenticate_now(context, exchange);
}

Task<Result<UserRef>> PublishedAuthentication::authenticate(RequestContext& context, Exchange& exchange) const {
  const auto authentication = authentication_.get();
  if (authentication == nullptr) co_return too_early();
  auto user = co_await authentication->authenticate(context, exchange);
  co_return user;
}

std::optional<AuthorizerResult> PublishedAuthorizer::decide_now(const RequestView& request) const {
  const auto published = authorization_.get();
  if (published == nullptr) return AuthorizerResult{Decision::kNoOpinion, "", too_early()};
  return (*published)->decide_now(request);
}

std::optional<AuthorizerResult> PublishedAuthorizer::begin(const RequestView& request,
                                                           std::shared_ptr<PendingAuthorization>& pending) const {
  const auto authorization = current();
  if (authorization == nullptr) return AuthorizerResult{Decision::kNoOpinion, "", too_early()};
  auto result = authorization->begin(request, pending);
  if (!result) pending->owner = authorization;
  return result;
}

Task<AuthorizerResult> PublishedAuthorizer::finish(const AuthorizationAttributes& attributes,
                                                   std::shared_ptr<PendingAuthorization> pending) {
  const auto authorization = pending->owner;
  AuthorizerResult result = co_await authorization->finish(attributes, std::move(pending));
  co_return result;
}

Task<AuthorizerResult> PublishedAuthorizer::authorize(const AuthorizationAttributes& attributes) {
  const auto authorization = current();
  if (authorization == nullptr) co_return AuthorizerResult{Decision::kNoOpinion, "", too_early()};
  AuthorizerResult result = co_await authorization->authorize(attributes);
  co_return result;
}

Task<RuleList> PublishedAuthorizer::rules_for(UserInfo user, std::string ns) {
  const auto authorization = current();
  RuleList rules;
  rules.incomplete = true;
  rules.error = too_early();
  if (authorization != nullptr) rules = co_await authorization->rules_for(std::move(user), std::move(ns));
  co_return rules;
}

Task<AuthenticationResult> PublishedTokenAuthenticator::authenticate_token(std::string token, std::vector<std::string> audiences) {
  const auto tokens = tokens_.get();
  if (tokens == nullptr) co_return too_early();
  auto known = co_await (*tokens)->authenticate_token(std::move(token), std::move(audiences));
  co_return known;
}

}  // namespace backplane
