// Which requests run now, which wait, and which are told to come again later: what a plugin puts in the place of the host's two limits
// (--max-requests-inflight, --max-mutating-requests-inflight).  It stands behind authentication and before authorization.
//
// Asked are requests that are not long-running, and watches until they have begun: a watch gives its place back when all that there was at
// its start has been written.
// Thread-safety: enter(), wait() and leave() on the executor of the request's connection, any number of requests at once; measured() from
//                any thread.
// Lifetime:      shared; every request that was let in has left before the plugin goes.
// Errors:        none: a request is let in or refused.
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

// What a request holds while it is in: the gate's own words, which the host keeps for it and does not read.
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
  kEnter,   // it runs; leave() is called once when it has ended
  kRefuse,  // it is answered 429 with the response headers that are set; nothing is held
  kWait,    // ask wait()
};

class RequestGate {
 public:
  virtual ~RequestGate();
  // Decides at once; costs every request what it costs.  May set response headers.
  virtual GateAnswer enter(RequestContext& context, Exchange& exchange, GatePass& pass) = 0;
  // Waits for a place: true is kEnter, false kRefuse.  A client that goes away is refused.
  virtual Task<bool> wait(RequestContext& context, Exchange& exchange, GatePass& pass) = 0;
  virtual void leave(GatePass& pass) noexcept = 0;
  // Where a request has been put, for its line in the log: fields as " apf_pl=\"exempt\"".  Of one that is in, or was refused.
  virtual std::string log_fields(const GatePass& pass) const;
  // What /metrics shows of it.
  virtual std::vector<Metric::Snapshot> measured() const = 0;
};

// How many objects of a resource its cache holds.
struct StoredObjects {
  GroupResource resource;
  std::size_t objects = 0;
  std::size_t bytes = 0;  // of all of them
};

}  // namespace BACKPLANE_API
