// Verifies the ID tokens of one OpenID provider. The provider's discovery document contains the URL of the keys.
//
// Thread-safety: verify() on any executor, any number of calls at once.
// Lifetime:      shared; the host outlives it. stop() ends fetches of keys.
// Errors:        kUnauthorized with the texts of go-oidc.
// Source:        github.com/coreos/go-oidc v2 (oidc.go, verify.go).
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/task.hpp"
#include "backplane/kit/jose_algorithm.hpp"
#include "oidc/remote_keys.hpp"

namespace backplane::authentication {

// The algorithms that a configuration allows: as a set, and as names for messages.
struct SigningAlgorithms {
  std::vector<std::string> names;
  kit::JoseAlgorithms set;

  // Errors: `oidc: unsupported signing alg: "HS256"`.
  static Result<SigningAlgorithms> of(std::vector<std::string> names);
  // All supported algorithms, sorted.
  static SigningAlgorithms all();
};

struct TokenRules {
  std::vector<std::string> audiences;
  SigningAlgorithms algorithms;
  std::function<std::chrono::system_clock::time_point()> now = std::chrono::system_clock::now;
};

class IdTokenVerifier {
 public:
  // Reads the discovery document, and makes a verifier. `discovery_url`: empty for ISSUER/.well-known/openid-configuration.
  // Errors:        the provider does not respond, or its document has another issuer or no URL of keys.
  static Task<Result<std::shared_ptr<IdTokenVerifier>>> discover(Host& host, std::shared_ptr<OidcClient> client, std::string issuer,
                                                                 std::string discovery_url, TokenRules rules, RemoteKeys::Observer observer,
                                                                 OidcClient::Deadline deadline = OidcClient::Deadline::max());
  IdTokenVerifier(std::string issuer, TokenRules rules, std::shared_ptr<RemoteKeys> keys)
      : issuer_(std::move(issuer)), rules_(std::move(rules)), keys_(std::move(keys)) {}

  // Returns the claims of a valid token. Waits for keys until `deadline`.
  Task<Result<Object>> verify(std::string token, OidcClient::Deadline deadline) const;
  void stop() const noexcept { keys_->stop(); }

 private:
  const std::string issuer_;
  const TokenRules rules_;
  const std::shared_ptr<RemoteKeys> keys_;
};

}  // namespace backplane::authentication
