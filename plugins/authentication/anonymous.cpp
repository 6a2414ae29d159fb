#include "anonymous.hpp"

#include "backplane/core/query.hpp"
#include "backplane/points/http.hpp"

namespace backplane::authentication {

AuthenticationResult AnonymousAuthenticator::without_credentials(std::string_view target) const {
  const std::string path = percent_decode(target.substr(0, target.find('?')), false);
  if (!enabled_ || (!paths_.empty() && !paths_.contains(path))) return unauthorized();
  UserInfo user;
  user.name = "system:anonymous";
  user.groups = {"system:unauthenticated"};
  return std::optional<AuthenticationResponse>(AuthenticationResponse{std::move(user)});
}

std::optional<AuthenticationResult> AnonymousAuthenticator::authenticate_now(RequestContext&, const Exchange& exchange) {
  // No authenticator has accepted the request's token. Returns no user, so that the host refuses the token as an invalid credential.
  if (!bearer_token(exchange).empty()) return AuthenticationResult(std::optional<AuthenticationResponse>());
  return without_credentials(exchange.target());
}

Task<AuthenticationResult> AnonymousAuthenticator::authenticate(RequestContext& context, Exchange& exchange) {
  co_return *authenticate_now(context, exchange);
}

}  // namespace backplane::authentication
