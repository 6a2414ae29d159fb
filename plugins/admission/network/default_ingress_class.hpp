// The admission plugin DefaultIngressClass: new ingresses without a class get the default class.
//
// Thread-safety: any thread.
// Lifetime:      `services` outlive the plugin.
// Source:        kubernetes plugin/pkg/admission/network/defaultingressclass.
#pragma once

#include "common/services.hpp"

namespace backplane::admission::network {

Result<std::shared_ptr<AdmissionPlugin>> make_default_ingress_class(Services& services, const AdmissionPluginConfig& config);

}  // namespace backplane::admission::network
