// Makes the JWT authenticators of a configuration, and replaces them when the file of --authentication-config changes.
//
// A new configuration takes effect as soon as all of its issuers are ready. The former configuration stays in effect until then, and also
// if the new one is invalid or if an issuer is not ready within a minute. The former issuers stop a minute after they have been replaced.
// Thread-safety: make() at startup; the watch runs on the plugin's executor.
// Lifetime:      shared; the watch keeps it alive until the host stops.
// Errors:        make(): kBadRequest, for instance for an egress selection that is not configured. Errors of later configurations are
//                logged and counted.
// Source:        k8s.io/kubernetes/pkg/kubeapiserver/options/authentication.go, pkg/kubeapiserver/authenticator/config.go.
#pragma once

#include <chrono>
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

  // True if a file is configured, which may contain issuers later even if it contains none now.
  bool is_watching() const noexcept { return !settings_.file.empty(); }
  const std::shared_ptr<JwtAuthenticators>& authenticators() const noexcept { return authenticators_; }
  // Starts the issuers, and the watch if a file is configured.
  void start();
  // Waits until the issuers that start() has started are ready.  Errors: kServiceUnavailable if one of them is not ready within 50 s.
  Task<Status> wait_for_start();

 private:
  JwtController(Host& host, JwtSettings settings);
  Result<JwtIssuers> make_issuers(const AuthenticationConfiguration& config, std::vector<ClaimExpressions> expressions) const;
  // Applies new content of the file. Returns false if it could not take effect now, but may if it is applied again.
  Task<bool> apply(std::string content);
  Task<Status> replace(JwtIssuers issuers);
  // Returns why the issuers are not ready; empty if they are.
  Task<std::string> wait_until_ready(const JwtIssuers& issuers, std::chrono::seconds limit);
  Task<void> retire(std::shared_ptr<const JwtIssuers> former);

  Host& host_;
  const JwtSettings settings_;
  const std::shared_ptr<JwksMetrics> jwks_metrics_;  // null: the feature gate is off
  kit::ReloadMetrics reload_metrics_;
  std::shared_ptr<JwtAuthenticators> authenticators_;
};

}  // namespace backplane::authentication
