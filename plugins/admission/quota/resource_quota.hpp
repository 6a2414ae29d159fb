// Admission plugin ResourceQuota: refuses writes that would use more than the quotas of a namespace allow, and records the usage of the
// others.
// Source: k8s.io/apiserver/pkg/admission/plugin/resourcequota.
#pragma once

#include "common/services.hpp"

namespace backplane::admission {

Result<std::shared_ptr<AdmissionPlugin>> make_resource_quota(Services& services, const AdmissionPluginConfig& config);

}  // namespace backplane::admission
