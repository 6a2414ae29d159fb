// Applies changes of the file of --authorization-config while the server runs.
//
// If the new file is invalid, or lacks a type that the file had at startup, the present configuration stays in effect.
// Thread-safety: run() on the plugin's executor.
// Lifetime:      shared; the task of run() keeps it alive. apply() only while it is alive.
// Source:        kubernetes pkg/kubeapiserver/authorizer/reload.go, k8s.io/apiserver/pkg/server/options/authorizationconfig/metrics.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "backplane/kit/reload_metrics.hpp"
#include "config/webhooks.hpp"

namespace backplane::authorization {

class ConfigurationReload {
 public:
  // `text`, `config`: the present configuration.
  ConfigurationReload(Host& host, WebhookFactory factory, std::string file, std::string text, AuthorizationConfig config);
  // Watches the file until the server stops. The task owns `reload`.
  static Task<void> run(std::shared_ptr<ConfigurationReload> reload);
  // Applies one content of the file. Always returns true: content that cannot be applied is not tried again.
  Task<bool> apply(std::string text);

 private:
  Result<std::vector<AuthorizerPlace>> load(const std::string& text, AuthorizationConfig& next) const;
  void failed(const Status& why);

  Host& host_;
  const WebhookFactory factory_;
  const std::string file_;
  const std::string text_;
  std::set<std::string> startup_types_;  // other than Webhook
  AuthorizationConfig current_;
  kit::ReloadMetrics metrics_;
};

}  // namespace backplane::authorization
