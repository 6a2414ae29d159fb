// Metrics of structured authentication, with upstream's names.
//
// Thread-safety: any thread.
// Source:        k8s.io/apiserver/plugin/pkg/authenticator/token/oidc/metrics.go,
//                k8s.io/apiserver/pkg/server/options/authenticationconfig/metrics.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "backplane/kit/content_hash.hpp"
#include "backplane/kit/reload_metrics.hpp"

namespace backplane::authentication {

void count_jwt_authentication(bool success, const std::string& issuer_hash, std::chrono::nanoseconds took);

// Metrics of the fetches of key sets by this server.
class JwksMetrics {
 public:
  // `server_id`: kit::server_id().
  explicit JwksMetrics(std::string_view server_id) : server_hash_(kit::content_hash(server_id)) {}

  void fetched(const std::string& issuer_hash, std::string_view key_set);
  void failed(const std::string& issuer_hash);
  // Drops the series of an issuer that is no longer configured.
  void forget(const std::string& issuer_hash);

 private:
  const std::string server_hash_;
  std::mutex mutex_;
  std::map<std::string, std::string> key_sets_;  // the hash of the key set, by the hash of the issuer
};

// Returns the metrics of reloads of --authentication-config.
kit::ReloadMetrics reload_metrics(std::string_view server_id);

}  // namespace backplane::authentication
