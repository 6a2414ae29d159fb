// The shutdown of a server: fires the signals in upstream's order, with and without --shutdown-send-retry-after.
//
// Thread-safety: run_shutdown() runs on one executor; other threads may use its parts at the same time.
// Lifetime:      run_shutdown() borrows its parts until it has returned.
// Errors:        run_shutdown() returns the errors of pre-shutdown hooks. It drains the server even if hooks fail.
#pragma once

#include <chrono>
#include <functional>

#include "app/lifecycle_signals.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/task.hpp"
#include "filters/wait_group.hpp"

namespace backplane {

// The operations of the listening server that the shutdown uses.
class DrainableServer {
 public:
  virtual ~DrainableServer() = default;
  // Closes the listener, and then calls `done`: from then on the kernel refuses connections.
  virtual void stop_listening(std::function<void()> done) = 0;
  // Limits the wait for clients that do not read their responses.
  virtual void shorten_write_timeouts() = 0;
  // Open connections accept no new requests, and close when their running requests have ended.
  virtual void begin_drain() = 0;
  virtual Task<bool> wait_closed(std::chrono::steady_clock::time_point deadline) = 0;
  virtual void force_close() = 0;
};

struct ShutdownOptions {
  std::chrono::nanoseconds delay{};
  bool send_retry_after = false;
  std::chrono::nanoseconds watch_termination_grace_period{};
  std::chrono::nanoseconds request_timeout = std::chrono::seconds(60);
};

struct ShutdownParts {
  ShutdownOptions options;
  LifecycleSignals& signals;
  WaitGroup& short_requests;
  PacedWaitGroup& watches;
  DrainableServer& server;
  std::function<Task<Status>()> run_pre_shutdown_hooks;
};

// Fires ShutdownInitiated first. Returns when all connections are closed, or when the last time limit is over.
Task<Status> run_shutdown(ShutdownParts parts);

// Waits until `signal` has fired; false if `limit` passed first.
Task<bool> wait_for(Signal& signal, std::chrono::nanoseconds limit);

}  // namespace backplane
