#include "app/lifecycle.hpp"

#include <algorithm>

#include "app/log.hpp"

namespace backplane {
namespace {

using Clock = std::chrono::steady_clock;

// A client may send a request over HTTP/1.1 at the moment when the server closes its idle connection, and then does not know whether the
// request was processed. So responses have the header "Connection: close" for this long before idle connections are closed.
constexpr std::chrono::milliseconds kLastAnswers{300};
// Clients of draining connections may still be sending a request that they began before the drain.
constexpr std::chrono::seconds kLastRequests{1};
// With --shutdown-send-retry-after no request is in flight when the listener closes: clients only have to receive the GOAWAY.
constexpr std::chrono::seconds kRetryAfterStop{2};
constexpr std::chrono::seconds kForcedClose{5};

std::chrono::nanoseconds until(Clock::time_point deadline) {
  return std::max(std::chrono::nanoseconds::zero(), std::chrono::nanoseconds(deadline - Clock::now()));
}

Task<void> stop_listening(ShutdownParts& parts) {
  Promise<bool> closed;
  parts.server.stop_listening([closed] { closed.set(true); });
  bool done = co_await closed.future();
  (void)done;
  parts.signals.http_server_stopped_listening.fire();
  done = co_await parts.server.wait_closed(Clock::now() + kLastAnswers);
  parts.server.begin_drain();
}

Task<void> drain_requests(ShutdownParts& parts, Clock::time_point begun) {
  parts.short_requests.start_waiting();
  // A request outlives its timeout only until its handler notices the cancellation.
  const auto limit = until(begun + parts.options.request_timeout + kForcedClose);
  bool drained = co_await wait_for(parts.short_requests.drained(), limit);
  if (!drained) {
    app_log().warn("requests did not end in time, continuing shutdown without them count={}", parts.short_requests.count());
    co_return;
  }
  app_log().info("[graceful-termination] in-flight non long-running request(s) have drained");
}

Task<void> drain_watches(ShutdownParts& parts, Clock::time_point begun, std::size_t before) {
  const auto grace = parts.options.watch_termination_grace_period;
  if (grace <= std::chrono::nanoseconds::zero()) {
    app_log().info("[graceful-termination] not going to wait for active watch request(s) to drain");
    co_return;
  }
  const auto limit = until(begun + grace);
  bool drained = co_await wait_for(parts.watches.drained(), limit);
  app_log().info("[graceful-termination] active watch request(s) have drained activeWatchesBefore={} activeWatchesAfter={} complete={}",
                 before, parts.watches.count(), drained);
}

Task<void> close_connections(ShutdownParts& parts, Clock::time_point begun) {
  const auto now = Clock::now();
  const Clock::time_point patient = std::max(begun + parts.options.request_timeout, now + kLastRequests);
  const Clock::time_point deadline = parts.options.send_retry_after ? now + kRetryAfterStop : patient;
  bool closed = co_await parts.server.wait_closed(deadline);
  if (closed) co_return;
  app_log().warn("connections did not end in time, closing them");
  parts.server.force_close();
  closed = co_await parts.server.wait_closed(Clock::now() + kForcedClose);
  if (!closed) app_log().error("handlers are still running after their connections were closed");
}

}  // namespace

Task<bool> wait_for(Signal& signal, std::chrono::nanoseconds limit) {
  if (signal.fired()) co_return true;
  Promise<bool> outcome;
  auto cancel = current_executor()->after(limit, [outcome] { outcome.set(false); });
  signal.on_fire([outcome] { outcome.set(true); });
  bool fired = co_await outcome.future();
  cancel();
  co_return fired;
}

//   SIGTERM, SIGINT
//      │
//      ▼
//   ShutdownInitiated ······································ /readyz red
//      │
//      ├─────────────────────────────┐
//      │ --shutdown-delay-duration   │ pre-shutdown hooks, one after another
//      ▼                             ▼
//   AfterShutdownDelayDuration    PreShutdownHooksStopped
//      │                             │
//      └──────────────┬──────────────┘
//                     ▼
//   NotAcceptingNewRequest ································· watches end
//                     │
//                     │ connections of clients that do not read their responses are closed after 5 s
//         ┌───────────┴──────────────────────┐
//         │ without                          │ with --shutdown-send-retry-after
//         ▼                                  │
//   HTTPServerStoppedListening               │ new requests: 429
//         │ for 0.3 s each response closes   │
//         │ its connection, then idle ones   │
//         │ are closed; requests that were   │
//         │ being sent are read for 1 s more │
//         └───────────┬──────────────────────┘
//                     ▼
//   short requests ended (late ones: 503) within --request-timeout, watches within their grace period
//                     │
//                     ▼
//   InFlightRequestsDrained
//                     │
//                     │ with --shutdown-send-retry-after: HTTPServerStoppedListening here
//                     ▼
//   connections closed; remaining ones by force --request-timeout after NotAcceptingNewRequest (with retry-after: 2 s from here)
Task<Status> run_shutdown(ShutdownParts parts) {
  LifecycleSignals& signals = parts.signals;
  signals.shutdown_initiated.fire();
  current_executor()->after(parts.options.delay, [&signals] { signals.after_shutdown_delay_duration.fire(); });

  Status hooks = co_await parts.run_pre_shutdown_hooks();
  if (!hooks.ok()) app_log().error("pre-shutdown hooks failed error={}", hooks.message());
  signals.pre_shutdown_hooks_stopped.fire();
  co_await signals.after_shutdown_delay_duration.wait();

  // NotAcceptingNewRequest ends the watches, so the rate at which they end is set before.
  const std::size_t watches_before = parts.watches.count();
  parts.watches.start_waiting(parts.options.watch_termination_grace_period);
  signals.not_accepting_new_request.fire();
  // the limits of requests and watches, and the one of connections without --shutdown-send-retry-after, count from here
  const auto begun = Clock::now();
  parts.server.shorten_write_timeouts();

  if (!parts.options.send_retry_after) {
    co_await stop_listening(parts);
    bool all_closed = co_await parts.server.wait_closed(Clock::now() + kLastRequests);
    (void)all_closed;
  }
  co_await drain_requests(parts, begun);
  co_await drain_watches(parts, begun, watches_before);
  signals.in_flight_requests_drained.fire();
  if (parts.options.send_retry_after) co_await stop_listening(parts);
  co_await close_connections(parts, begun);
  co_return hooks;
}

}  // namespace backplane
