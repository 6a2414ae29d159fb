// The writes that a webhook's service needs to become available again: pods and their controllers, the service, its endpoints, tokens and
// leases in the namespace of the service that the webhook refers to; the status of nodes; reviews of tokens and access. A failed call of
// the webhook does not refuse them, regardless of its failurePolicy, unless the call only hangs (AnswerClock): otherwise a webhook without
// pods would refuse the pods that serve it.
//
// Thread-safety: a pure function.
#pragma once

#include <string_view>

#include "backplane/points/admission.hpp"

namespace backplane::admission::webhooks {

// `service_namespace`: empty for a webhook with a URL. Any operation counts.
bool writes_own_service(std::string_view service_namespace, const AdmissionAttributes& attributes) noexcept;

}  // namespace backplane::admission::webhooks
