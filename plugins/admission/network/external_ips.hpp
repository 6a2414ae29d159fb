// The admission plugin DenyServiceExternalIPs: services cannot get external IPs; those that they have may stay.
//
// Thread-safety: any thread.
// Source:        kubernetes plugin/pkg/admission/network/denyserviceexternalips.
#pragma once

#include "common/services.hpp"

namespace backplane::admission::network {

Result<std::shared_ptr<AdmissionPlugin>> make_deny_external_ips(Services& services, const AdmissionPluginConfig& config);

}  // namespace backplane::admission::network
