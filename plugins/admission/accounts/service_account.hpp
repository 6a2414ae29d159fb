// The admission plugin ServiceAccount: every pod runs as an existing service account and mounts its token.
//
// Thread-safety: any thread.
// Lifetime:      `services` outlive the plugin.
// Source:        kubernetes plugin/pkg/admission/serviceaccount.
#pragma once

#include "common/services.hpp"

namespace backplane::admission::accounts {

Result<std::shared_ptr<AdmissionPlugin>> make_service_account(Services& services, const AdmissionPluginConfig& config);

}  // namespace backplane::admission::accounts
