// Makes the JWT authenticators of a configuration, and replaces them when the file of --authentication-config changes.
//
// A new configuration takes effect when every one of its issuers is ready, within a minute; until then, and if it is invalid, the former
// one stays. The former issuers stop a minute after they have been replaced.
// Thread-safety: make() at startup; the watch runs on the plugin's executor.
// Lifetime:      shared; the watch keeps it alive until the host stops.
// Errors:        make(): kBadRequest, for instance for an egress selection that is not configured. Later ones are logged and counted.
// Source:        k8s.io/kubernetes/pkg/kubeapiserver/options/authentication.go, pkg/kubeapiserver/authenticator/config.go.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "config/jwt_settings.hpp"
#include "oidc/jwt_authenticators.hpp"
#include "oidc/metrics.hpp"

namespace backplane::authentication {

class JwtController : public std::enable_shared_from_this<JwtController> {
 public:
  static Result<std::shared_ptr<JwtController>> make(Host& host, JwtSettings settings);

  // True if a file is configured: there may be issuers later.
  bool is_watching() const noexcept { return !settings_.file.empty(); }
  const std::shared_ptr<JwtAuthenticators>& authenticators() const noexcept { return authenticators_; }
  // Starts the issuers, and the watch if a file is configured.
  void start();

 private:
  JwtController(Host& host, JwtSettings settings);
  Result<JwtIssuers> make_issuers(const AuthenticationConfiguration& config, std::vector<ClaimExpressions> expressions) const;
  // False: the content may take effect later.
  Task<bool> apply(std::string content);
  Task<Status> replace(JwtIssuers issuers);
  Task<std::string> wait_until_ready(const JwtIssuers& issuers);
  Task<void> retire(std::shared_ptr<const JwtIssuers> former);

  Host& host_;
  const JwtSettings settings_;
  const std::shared_ptr<JwksMetrics> jwks_metrics_;  // null: the feature gate is off
  kit::ReloadMetrics reload_metrics_;
  std::shared_ptr<JwtAuthenticators> authenticators_;
};

}  // namespace backplane::authentication
