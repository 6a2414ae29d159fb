// WebhookAdmissionConfiguration: the plugins' entry in --admission-control-config-file, and the credentials that its kubeconfig has for
// each webhook.
//
// kube-apiserver's fields are kubeConfigFile and staticManifestsDir. chainBudget, circuitBreakerFailures and
// failOpenForOwnService are additional.
// Thread-safety: immutable after parse_webhook_configuration().
// Errors:        kBadRequest for a configuration or a kubeconfig that cannot be used; startup fails with it.
// Source:        k8s.io/apiserver/pkg/admission/plugin/webhook/config, pkg/util/webhook/authentication.go.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "backplane/kit/kubeconfig.hpp"

namespace backplane::admission::webhooks {

// The users of a kubeconfig, chosen by the address of the webhook.
class WebhookCredentials {
 public:
  static Result<std::shared_ptr<const WebhookCredentials>> read(const std::string& file);
  static Result<std::shared_ptr<const WebhookCredentials>> parse(std::string_view text, const std::string& file);

  // The name of the user for "host:port": exact, then "*.domain" from the longest to the shortest, both again without the port 443, then
  // "*", then the user of the current context; empty: none of them.
  std::string user_for(const std::string& address) const;
  // Certificate, key and token of that user, with the headers to send.
  Result<kit::KubeconfigServer> for_address(const std::string& address) const;

 private:
  bool has_user(std::string_view name) const;
  std::string user_at(const std::string& address) const;

  Object config_;
  std::string file_;
};

struct WebhookConfiguration {
  std::string manifests_directory;                        // staticManifestsDir; empty: none
  std::shared_ptr<const WebhookCredentials> credentials;  // null: anonymous
  // The longest time that the webhooks of one write may take together; 0: no limit but the request's deadline.
  std::chrono::nanoseconds chain_budget{0};
  int circuit_breaker_failures = 0;  // 0: no circuit breaker
  bool fail_open_for_own_service = true;
};

// `text`: empty: the defaults. `manifests`: the gate ManifestBasedAdmissionControlConfig.
Result<WebhookConfiguration> parse_webhook_configuration(const std::string& text, bool manifests = false);

}  // namespace backplane::admission::webhooks
