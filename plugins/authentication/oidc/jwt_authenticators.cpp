#include "oidc/jwt_authenticators.hpp"

#include <algorithm>

#include "oidc/id_token.hpp"

namespace backplane::authentication {

std::shared_ptr<JwtIssuer> JwtAuthenticators::issuer_of(std::string_view token) const {
  const auto issuers = issuers_.get();
  if (issuers->empty()) return nullptr;
  const auto url = untrusted_issuer(token);
  if (!url.ok()) return nullptr;
  const auto found = std::find_if(issuers->begin(), issuers->end(), [&](const auto& each) { return each->url() == *url; });
  return found == issuers->end() ? nullptr : *found;
}

Task<AuthenticationResult> JwtAuthenticators::authenticate(std::string token, std::vector<std::string>, TokenNotes&) {
  const auto issuer = issuer_of(token);
  if (issuer == nullptr) co_return std::optional<AuthenticationResponse>();
  auto checking = issuer->authenticate(std::move(token));
  auto user = co_await std::move(checking);
  if (!user.ok()) co_return std::move(user).status();
  co_return std::optional<AuthenticationResponse>(AuthenticationResponse{std::move(*user)});
}

}  // namespace backplane::authentication
