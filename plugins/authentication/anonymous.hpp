// Authenticates requests without credentials as the member `anonymous` of an AuthenticationConfiguration requires: on the listed paths the
// user is system:anonymous, requests for other paths get 401. This authenticator is registered after all others.
//
// Thread-safety: immutable; any thread.
// Errors:        kUnauthorized for a request that is not allowed without credentials.
// Source:        k8s.io/apiserver/pkg/authentication/request/anonymous.
#pragma once

#include <set>
#include <string>

#include "backplane/points/authentication.hpp"
#include "config/authentication_config.hpp"

namespace backplane::authentication {

class AnonymousAuthenticator final : public Authenticator {
 public:
  explicit AnonymousAuthenticator(const AnonymousConfig& config)
      : enabled_(config.enabled), paths_(config.paths.begin(), config.paths.end()) {}

  std::string_view name() const noexcept override { return "anonymous"; }
  std::optional<AuthenticationResult> authenticate_now(RequestContext& context, const Exchange& exchange) override;
  Task<AuthenticationResult> authenticate(RequestContext& context, Exchange& exchange) override;
  // Returns the result for a request without a bearer token. `target`: path and query of the request.
  AuthenticationResult without_credentials(std::string_view target) const;

 private:
  const bool enabled_;
  const std::set<std::string, std::less<>> paths_;  // empty: all
};

}  // namespace backplane::authentication
