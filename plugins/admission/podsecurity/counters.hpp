// The metrics of PodSecurity: pod_security_evaluations_total, pod_security_exemptions_total and pod_security_errors_total.
//
// Thread-safety: any thread.
// Source:        k8s.io/pod-security-admission/metrics.
#pragma once

#include <string_view>

#include "backplane/points/admission.hpp"
#include "podsecurity/levels.hpp"

namespace backplane::admission::podsecurity {

// Creates the series that exist before the first request.
void create_counters();
// `mode`: "enforce", "audit" or "warn".
void count_evaluation(bool allowed, const LevelVersion& policy, std::string_view mode, const AdmissionAttributes& attributes);
void count_exemption(const AdmissionAttributes& attributes);
// `fatal`: the pod could not be evaluated; otherwise a default policy was used because the configured one is invalid.
void count_error(bool fatal, const AdmissionAttributes& attributes);

}  // namespace backplane::admission::podsecurity
