// The writes that a webhook's own service needs to come back: pods and what makes them, the service, its endpoints, tokens and leases in
// the namespace of the service that the webhook refers to; what nodes report; reviews of tokens and access. A failed call of the webhook
// does not refuse them, whatever its failurePolicy says: otherwise a webhook whose pods are gone would refuse the pods that would answer
// it.
//
// Thread-safety: a pure function.
#pragma once

#include <string_view>

#include "backplane/points/admission.hpp"

namespace backplane::admission::webhooks {

// `service_namespace`: empty for a webhook with a URL. Any operation counts.
bool writes_own_service(std::string_view service_namespace, const AdmissionAttributes& attributes) noexcept;

}  // namespace backplane::admission::webhooks
