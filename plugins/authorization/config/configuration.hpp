// The file of --authorization-config: AuthorizationConfiguration of apiserver.config.k8s.io v1, v1beta1 and v1alpha1.
//
// Thread-safety: pure functions. load_configuration() reads the metadata of kubeconfig files, so it may block.
// Errors:        kBadRequest with the text of kube-apiserver.
// Source:        k8s.io/apiserver/pkg/apis/apiserver/{load,validation,v1}, kubernetes pkg/kubeapiserver/authorizer/config.go.
#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/status.hpp"

namespace backplane::authorization {

struct WebhookConfig {
  std::chrono::nanoseconds authorized_ttl{std::chrono::minutes(5)};
  std::chrono::nanoseconds unauthorized_ttl{std::chrono::seconds(30)};
  bool cache_authorized = true;
  bool cache_unauthorized = true;
  std::chrono::nanoseconds timeout{};
  std::string review_version;     // of the SubjectAccessReview that is sent: v1 or v1beta1
  std::string condition_version;  // of the SubjectAccessReview in match conditions: v1
  std::string failure_policy;     // NoOpinion or Deny
  std::string connection_type;
  std::optional<std::string> kubeconfig;
  std::vector<std::string> match_conditions;
  bool operator==(const WebhookConfig&) const = default;
};

struct AuthorizerConfig {
  std::string type;  // a mode of kube-apiserver
  std::string name;
  std::optional<WebhookConfig> webhook;
  bool operator==(const AuthorizerConfig&) const = default;
};

struct AuthorizationConfig {
  std::vector<AuthorizerConfig> authorizers;
  bool operator==(const AuthorizationConfig&) const = default;
};

// Decodes, sets defaults, validates. `required_types`: types other than Webhook that the file must contain (those that it had at startup).
Result<AuthorizationConfig> load_configuration(std::string_view text, const std::set<std::string>& required_types = {});

// Formats a duration like Go prints a time.Duration ("1m30s").
std::string duration_text(std::chrono::nanoseconds duration);

}  // namespace backplane::authorization
