// Admission plugin EventRateLimit, off by default: refuses events of the core group past the configured rates with 429.
// Source: k8s.io/kubernetes/plugin/pkg/admission/eventratelimit.
#pragma once

#include "common/services.hpp"

namespace backplane::admission::objects {

Result<std::shared_ptr<AdmissionPlugin>> make_event_rate_limit(Services& services, const AdmissionPluginConfig& config);

}  // namespace backplane::admission::objects
