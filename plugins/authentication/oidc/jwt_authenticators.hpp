// The JSON Web Tokens of all configured issuers. The issuer in a token selects the entry of the configuration.
//
// Thread-safety: any executor; use() from one task at a time.
// Lifetime:      shared.
// Errors:        those of JwtIssuer. A token of an issuer that is not configured is unknown (nullopt), not an error.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backplane/kit/published.hpp"
#include "oidc/jwt_issuer.hpp"
#include "tokens/token_source.hpp"

namespace backplane::authentication {

using JwtIssuers = std::vector<std::shared_ptr<JwtIssuer>>;

class JwtAuthenticators final : public TokenSource {
 public:
  explicit JwtAuthenticators(JwtIssuers issuers) : issuers_(std::make_shared<const JwtIssuers>(std::move(issuers))) {}

  std::string_view name() const noexcept override { return "jwt"; }
  Task<AuthenticationResult> authenticate(std::string token, std::vector<std::string> audiences, TokenNotes& notes) override;

  std::shared_ptr<const JwtIssuers> issuers() const { return issuers_.get(); }
  // Replaces the issuers, for tokens that arrive afterwards.
  void use(JwtIssuers issuers) { issuers_.set(std::make_shared<const JwtIssuers>(std::move(issuers))); }

 private:
  // Returns null if the token's issuer is not configured.
  std::shared_ptr<JwtIssuer> issuer_of(std::string_view token) const;

  kit::Published<JwtIssuers> issuers_;
};

}  // namespace backplane::authentication
