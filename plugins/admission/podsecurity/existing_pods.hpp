// Warnings on the existing pods of a namespace whose enforced level changes.
//
// Thread-safety: pure functions. Decodes up to 3000 pods: call it on a pool for blocking work.
// Source:        k8s.io/pod-security-admission/admission (EvaluatePodsInNamespace).
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/object.hpp"
#include "podsecurity/configuration.hpp"

namespace backplane::admission::podsecurity {

struct PodCheckLimits {
  std::size_t most_pods = 3000;
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
};
// One pod of each controller is checked before the others, so that every controller is covered even if a limit ends the checks.
std::vector<std::string> existing_pod_warnings(const Configuration& configuration, std::string_view ns, const LevelVersion& enforce,
                                               const std::vector<ObjectRef>& pods, const PodCheckLimits& limits);

}  // namespace backplane::admission::podsecurity
