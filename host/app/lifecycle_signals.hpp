// Events that happen once in the life of a server, by upstream's names (apiserver/pkg/server.lifecycleSignals).
//
// Thread-safety: every signal from any thread.
// Lifetime:      outlives everything that waits on it.
#pragma once

#include "base/signal.hpp"

namespace backplane {

struct LifecycleSignals {
  LifecycleSignals();

  // The server was asked to stop: /readyz fails from here on.
  NamedSignal shutdown_initiated;
  // --shutdown-delay-duration is over.
  NamedSignal after_shutdown_delay_duration;
  // Every pre-shutdown hook has returned.
  NamedSignal pre_shutdown_hooks_stopped;
  // after_shutdown_delay_duration and pre_shutdown_hooks_stopped have fired: new requests are refused.
  NamedSignal not_accepting_new_request;
  // No short request is in flight, or the time limit of short requests is over. If watches have a grace period, the same is true of them.
  NamedSignal in_flight_requests_drained;
  // The listener is closed.
  NamedSignal http_server_stopped_listening;
  // /readyz has been ok once.
  NamedSignal has_been_ready;
  // All paths that are installed at startup are served: an unknown path now gets 404 instead of 503.
  NamedSignal mux_and_discovery_complete;
};

}  // namespace backplane
