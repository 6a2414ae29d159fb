#include "oidc/metrics.hpp"

#include "backplane/core/metrics.hpp"

namespace backplane::authentication {
namespace {

double now_seconds() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

Metric& latency() {
  static Metric& made =
      Metric::histogram("apiserver_authentication_jwt_authenticator_latency_seconds",
                        "Latency of jwt authentication operations in seconds. This is the time spent authenticating a token for cache "
                        "miss only (i.e. when the token is not found in the cache).",
                        {"result", "jwt_issuer_hash"}, {.001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10});
  return made;
}

Metric& fetch_times() {
  static Metric& made = Metric::gauge("apiserver_authentication_jwt_authenticator_jwks_fetch_last_timestamp_seconds",
                                      "Timestamp of the last successful or failed JWKS fetch split by result, api server identity and jwt "
                                      "issuer for the JWT authenticator.",
                                      {"result", "jwt_issuer_hash", "apiserver_id_hash"});
  return made;
}

Metric& key_set_info() {
  static Metric& made = Metric::gauge("apiserver_authentication_jwt_authenticator_jwks_fetch_last_key_set_info",
                                      "Information about the last JWKS fetched by the JWT authenticator with hash as label, split by api "
                                      "server identity and jwt issuer.",
                                      {"jwt_issuer_hash", "apiserver_id_hash", "hash"});
  return made;
}

const kit::ReloadMetricTexts kReloads = {
    "apiserver_authentication_config_controller",
    "[BETA] Total number of automatic reloads of authentication configuration split by status and apiserver identity.",
    "[BETA] Timestamp of the last automatic reload of authentication configuration split by status and apiserver identity.",
    "Information about the last applied authentication configuration with hash as label, split by apiserver identity."};

}  // namespace

void count_jwt_authentication(bool success, const std::string& issuer_hash, std::chrono::nanoseconds took) {
  latency().observe({success ? "success" : "failure", issuer_hash}, std::chrono::duration<double>(took).count());
}

void JwksMetrics::fetched(const std::string& issuer_hash, std::string_view key_set) {
  std::string hash = kit::content_hash(key_set);
  std::lock_guard lock(mutex_);
  std::string& last = key_sets_[issuer_hash];
  if (!last.empty() && last != hash) key_set_info().forget({issuer_hash, server_hash_, last});
  last = std::move(hash);
  key_set_info().set({issuer_hash, server_hash_, last}, 1);
  fetch_times().set({"success", issuer_hash, server_hash_}, now_seconds());
}

void JwksMetrics::failed(const std::string& issuer_hash) { fetch_times().set({"failure", issuer_hash, server_hash_}, now_seconds()); }

void JwksMetrics::forget(const std::string& issuer_hash) {
  std::lock_guard lock(mutex_);
  const auto found = key_sets_.find(issuer_hash);
  if (found != key_sets_.end()) {
    key_set_info().forget({issuer_hash, server_hash_, found->second});
    key_sets_.erase(found);
  }
  for (const std::string_view result : {"success", "failure"}) fetch_times().forget({result, issuer_hash, server_hash_});
}

kit::ReloadMetrics reload_metrics(std::string_view server_id) { return {kReloads, kit::content_hash(server_id)}; }

}  // namespace backplane::authentication
