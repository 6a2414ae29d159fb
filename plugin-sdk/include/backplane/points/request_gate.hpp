// The extension point for flow control: which requests run now, which wait, and which get 429. A registered gate replaces the host's
// limits --max-requests-inflight and --max-mutating-requests-inflight. It runs after authentication and before authorization.
//
// The host calls the gate for requests that are not long-running, and for watches. A watch occupies its seat only until its initial events
// are written.
//
// Thread-safety: enter(), wait() and leave() run on the executor of the request's connection, for any number of requests at once;
//                measured() runs on any thread.
//                measured() runs on any thread.
// Lifetime:      shared; leave() has been called for every admitted request before the plugin is destroyed.
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
  kEnter,   // admitted; the host calls leave() once, when the request has ended
  kRefuse,  // refused with 429 and the response headers that enter() has set; the host does not call leave()
  kWait,    // undecided: the host awaits wait()
};

// The extension point; at most one plugin registers it (Host::register_request_gate).
class RequestGate {
 public:
  virtual ~RequestGate();
  // Decides without waiting. The host calls it for every request, so it must be fast. May set response headers.
  virtual GateAnswer enter(RequestContext& context, Exchange& exchange, GatePass& pass) = 0;
  // Waits for a seat. True: the request is admitted, as with kEnter. False: the request is refused, as with kRefuse; also if the client
  // closes the connection.
  virtual Task<bool> wait(RequestContext& context, Exchange& exchange, GatePass& pass) = 0;
  // The host calls it once for each admitted request, when the request has ended.
  virtual void leave(GatePass& pass) noexcept = 0;
  // Returns fields for the access-log line of an admitted or refused request, such as ` apf_pl="exempt"`.
  virtual std::string log_fields(const GatePass& pass) const;
  // The gate's metrics for /metrics.
  virtual std::vector<Metric::Snapshot> measured() const = 0;
};

// The number and size of the objects of one resource in its watch cache.
struct StoredObjects {
  GroupResource resource;
  std::size_t objects = 0;
  std::size_t bytes = 0;  // the total size of the objects
};

}  // namespace BACKPLANE_API
