#include "app/lifecycle_signals.hpp"

#include "app/log.hpp"

namespace backplane {
namespace {

void shutdown_event(std::string_view name) { app_log().info("[graceful-termination] shutdown event name={}", name); }
void start_event(std::string_view name) { app_details().info("start-up event name={}", name); }
void endpoints_complete(std::string_view name) {
  app_details().info("{} has all endpoints registered and discovery information is complete", name);
}

}  // namespace

LifecycleSignals::LifecycleSignals()
    : shutdown_initiated("ShutdownInitiated", shutdown_event),
      after_shutdown_delay_duration("AfterShutdownDelayDuration", shutdown_event),
      pre_shutdown_hooks_stopped("PreShutdownHooksStopped", shutdown_event),
      not_accepting_new_request("NotAcceptingNewRequest", shutdown_event),
      in_flight_requests_drained("InFlightRequestsDrained", shutdown_event),
      http_server_stopped_listening("HTTPServerStoppedListening", shutdown_event),
      has_been_ready("HasBeenReady", start_event),
      mux_and_discovery_complete("MuxAndDiscoveryComplete", endpoints_complete) {}

}  // namespace backplane
