// PodSecurityConfiguration (pod-security.admission.config.k8s.io, v1, v1beta1 and v1alpha1): default policy and exemptions.
//
// Thread-safety: immutable once parsed.
// Errors:        kBadRequest: unknown fields, kinds and versions; levels and versions that cannot be parsed; malformed or repeated
//                exemptions.
// Source:        k8s.io/pod-security-admission/admission/api.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "podsecurity/levels.hpp"

namespace backplane::admission::podsecurity {

struct Configuration {
  Policy defaults;
  std::vector<std::string> usernames, namespaces, runtime_classes;  // exempt

  // An empty name is never exempt.
  bool exempts_user(std::string_view name) const noexcept;
  bool exempts_namespace(std::string_view name) const noexcept;
  // `spec`: of a pod.
  bool exempts_runtime_class(const Object& spec) const noexcept;
};

// An empty text means the level privileged for every mode, and no exemptions.
Result<Configuration> parse_configuration(std::string_view text);

}  // namespace backplane::admission::podsecurity
