// Resolves the claim of groups if another endpoint supplies it in a separate token (_claim_names and _claim_sources).
//
// Thread-safety: any executor, any number of calls at once.
// Lifetime:      shared; the host outlives it.
// Errors:        kUnauthorized with upstream's texts.
// Source:        k8s.io/apiserver/plugin/pkg/authenticator/token/oidc (claimResolver); OpenID Connect Core 1.0, section 5.6.2.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "oidc/id_token_verifier.hpp"

namespace backplane::authentication {

class DistributedClaims {
 public:
  DistributedClaims(Host& host, std::string claim, std::shared_ptr<OidcClient> client, TokenRules rules)
      : host_(host), claim_(std::move(claim)), client_(std::move(client)), rules_(std::move(rules)) {}

  // Adds the claim to `claims` if `claims` name a source of the claim and do not contain it. All calls end at `deadline`.
  Task<Status> expand(Object& claims, OidcClient::Deadline deadline);
  void stop();

 private:
  // The maximum number of issuers of the tokens that endpoints return. It limits the servers to which an issuer can make this server
  // connect.
  static constexpr std::size_t kMostIssuers = 32;

  Task<Status> resolve(std::string url, std::string access_token, Object& claims, OidcClient::Deadline deadline);
  Task<Result<std::shared_ptr<IdTokenVerifier>>> verifier(std::string issuer, OidcClient::Deadline deadline);

  Host& host_;
  const std::string claim_;
  const std::shared_ptr<OidcClient> client_;
  const TokenRules rules_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<IdTokenVerifier>> verifiers_;
};

}  // namespace backplane::authentication
