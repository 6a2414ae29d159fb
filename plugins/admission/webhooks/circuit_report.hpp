// Reports that the circuit breaker of a webhook has opened or closed: a log line, the metric, and an Event of the configuration.
//
// Thread-safety: any executor; the Event is written by a task of the plugin.
// Lifetime:      copies the required parts of the hook.
// Errors:        none; an Event that cannot be written is logged.
#pragma once

#include <string>

#include "webhooks/hook.hpp"

namespace backplane::admission::webhooks {

// `why`: the failure that opened the circuit breaker, or the event that closed it if that was not a response. Does nothing for kNone.
void report_circuit(Host& host, const Hook& hook, CircuitBreaker::Change change, const std::string& why);

}  // namespace backplane::admission::webhooks
