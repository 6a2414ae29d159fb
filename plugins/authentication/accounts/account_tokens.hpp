// JSON Web Tokens of service accounts. AccountTokens checks issuer, signature and audiences; a ClaimsValidator checks the other claims.
//
// Thread-safety: any thread. Signatures are verified on the pool for blocking calls.
// Errors:        kUnauthorized; messages are upstream's (kubernetes/pkg/serviceaccount/jwt.go). A token of another issuer is unknown
//                (nullopt), not an error.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "accounts/account_keys.hpp"
#include "accounts/claims_validator.hpp"
#include "tokens/token_source.hpp"

namespace backplane::authentication {

// The issuer of tokens in secrets.
inline constexpr std::string_view kLegacyIssuer = "kubernetes/serviceaccount";

class AccountTokens final : public TokenSource {
 public:
  // `api_audiences`: the audiences of a token that names none.
  AccountTokens(std::string name, std::vector<std::string> issuers, std::shared_ptr<AccountKeys> keys,
                std::vector<std::string> api_audiences, std::shared_ptr<ClaimsValidator> validator, AccountMetricsRef metrics);
  std::string_view name() const noexcept override { return name_; }
  Task<AuthenticationResult> authenticate(std::string token, std::vector<std::string> audiences, TokenNotes& notes) override;

 private:
  Task<Result<AccountToken>> verified(std::string token, kit::Jws jws) const;

  const std::string name_;
  const std::set<std::string, std::less<>> issuers_;
  const std::shared_ptr<AccountKeys> keys_;
  const std::vector<std::string> api_audiences_;
  const std::shared_ptr<ClaimsValidator> validator_;
  const AccountMetricsRef metrics_;
};

}  // namespace backplane::authentication
