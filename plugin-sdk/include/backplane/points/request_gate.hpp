// The extension point for flow control: which requests run now, which wait, and which get 429. A registered gate replaces the host's
// limits --max-requests-inflight and --max-mutating-requests-inflight. It runs after authentication and before authorization.
//
// The host asks for requests that are not long-running, and for watches until they have started: a watch releases its seat when its
// initial events are written.
// Thread-safety: enter(), wait() and leave() run on the executor of the request's connection, for any number of requests at once;
//                measured() runs on any thread.
// Lifetime:      shared; every admitted request has left before the plugin is destroyed.
// Errors:        none; a request is admitted or refused.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backplane/core/meta.hpp"
#include "backplane/core/metrics.hpp"
#include "backplane/core/request.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/task.hpp"
#include "backplane/core/visibility.hpp"
#include "backplane/points/http.hpp"

namespace backplane BACKPLANE_API {

// State of one request in the gate. The host stores it between the calls and does not read it.
//
//   enter() ─► kEnter ──────────────► request runs ─► leave()
//           ├► kWait ─► wait() true ─► request runs ─► leave()
//           │           wait() false ─► 429
//           └► kRefuse ─► 429
struct GatePass {
  void* place = nullptr;
  void* flow = nullptr;
  void* queue = nullptr;
  void* note = nullptr;
  std::chrono::steady_clock::time_point begun = {};
  std::uint32_t seats = 0;
  std::uint32_t kind = 0;
};

enum class GateAnswer : unsigned char {
  kEnter,   // admitted; leave() is called once when the request has ended
  kRefuse,  // refused with 429 and the response headers that are set; leave() is not called
  kWait,    // undecided: the host awaits wait()
};

// The extension point; at most one plugin registers it (Host::register_request_gate).
class RequestGate {
 public:
  virtual ~RequestGate();
  // Decides without waiting. Called for every request, so its cost counts. May set response headers.
  virtual GateAnswer enter(RequestContext& context, Exchange& exchange, GatePass& pass) = 0;
  // Waits for a seat. True: admitted, as kEnter. False: refused, as kRefuse; also if the client closes the connection.
  virtual Task<bool> wait(RequestContext& context, Exchange& exchange, GatePass& pass) = 0;
  // The request has ended. Called once for each admitted request.
  virtual void leave(GatePass& pass) noexcept = 0;
  // Fields for the request's access-log line, such as ` apf_pl="exempt"`, for an admitted or refused request.
  virtual std::string log_fields(const GatePass& pass) const;
  // The gate's metrics for /metrics.
  virtual std::vector<Metric::Snapshot> measured() const = 0;
};

// Objects of one resource in its watch cache.
struct StoredObjects {
  GroupResource resource;
  std::size_t objects = 0;
  std::size_t bytes = 0;  // their total size
};

}  // namespace BACKPLANE_API
