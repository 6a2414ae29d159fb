// The configuration of ImagePolicyWebhook.
//
// Thread-safety: pure functions.
// Errors:        kBadRequest with upstream's text; unlike upstream, unknown fields are errors.
// Source:        k8s.io/kubernetes/plugin/pkg/admission/imagepolicy/config.go.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "backplane/core/status.hpp"

namespace backplane::admission::pods {

struct ImagePolicyConfig {
  std::string kubeconfig;
  std::chrono::nanoseconds allow_ttl{};  // how long a response is cached; 0: not at all
  std::chrono::nanoseconds deny_ttl{};
  std::chrono::nanoseconds retry_backoff{};
  bool default_allow = false;  // whether images are allowed if the webhook fails
};

// `text`: {"imagePolicy": {"kubeConfigFile": …, "allowTTL": seconds, "denyTTL": seconds, "retryBackoff": milliseconds, "defaultAllow": …}}.
Result<ImagePolicyConfig> parse_image_policy_config(std::string_view text);

// As Go prints a time.Duration: "1m30s", "500ms".
std::string go_duration_text(std::chrono::nanoseconds duration);

}  // namespace backplane::admission::pods
