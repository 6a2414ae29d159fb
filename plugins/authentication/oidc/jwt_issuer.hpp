// The authenticator of the tokens of one issuer: one entry of `jwt` in an AuthenticationConfiguration, or the --oidc-* flags.
//
// A background task reads the issuer's discovery document. If that fails, the task tries again every 10 s. Until it succeeds, tokens of the
// issuer are refused.
// Thread-safety: any executor, any number of calls at once.
// Lifetime:      shared; its tasks keep it alive. stop() ends them.
// Errors:        kUnauthorized with upstream's texts.
// Source:        k8s.io/apiserver/plugin/pkg/authenticator/token/oidc.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "backplane/kit/published.hpp"
#include "oidc/claim_user.hpp"
#include "oidc/distributed_claims.hpp"
#include "oidc/id_token_verifier.hpp"
#include "oidc/metrics.hpp"

namespace backplane::authentication {

class JwtIssuer : public std::enable_shared_from_this<JwtIssuer> {
 public:
  // `metrics`: null if fetches of key sets are not counted.
  JwtIssuer(Host& host, JwtConfig config, ClaimExpressions expressions, SigningAlgorithms algorithms, DialFunction dial,
            std::shared_ptr<JwksMetrics> metrics);

  // Starts reading the discovery document.
  void start();
  void stop();
  const std::string& url() const noexcept { return url_; }
  // Empty if the issuer is ready; otherwise the reason.
  std::string health() const;
  Task<Result<UserInfo>> authenticate(std::string token);

 private:
  Task<void> initialize();
  Task<Status> discover();
  Task<Result<UserInfo>> authenticate_uncounted(std::string token);

  Host& host_;
  const std::string url_, url_hash_, discovery_url_;
  const ClaimUser users_;
  const TokenRules rules_;
  const std::shared_ptr<OidcClient> client_;
  const std::shared_ptr<JwksMetrics> metrics_;
  const std::shared_ptr<DistributedClaims> distributed_;  // null: groups do not come from a claim
  std::atomic<bool> stopped_{false};
  kit::Published<IdTokenVerifier> verifier_;
  kit::Published<std::string> problem_;
};

}  // namespace backplane::authentication
