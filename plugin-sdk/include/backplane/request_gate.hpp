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

#include "backplane/http.hpp"
#include "backplane/meta.hpp"
#include "backplane/metrics.hpp"
#include "backplane/request.hpp"
#include "backplane/status.hpp"
#include "backplane/task.hpp"
#include "backplane/visibility.hpp"

namespace backplane BACKPLANE_API {

class Host;

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

// The role of hosts that have a place for a gate.
class GateKeeper {
 public:
  virtual ~GateKeeper();
  virtual Status register_request_gate(std::shared_ptr<RequestGate> gate) = 0;
  // How many objects of each resource are stored and how large they are, of those whose cache lives.
  struct Stored {
    GroupResource resource;
    std::size_t objects = 0;
    std::size_t bytes = 0;  // of all of them
  };
  virtual std::vector<Stored> stored_objects() const = 0;
};

// Errors: kAlreadyExists when another plugin has registered one; kServiceUnavailable on a host that has no place for it.
Status register_request_gate(Host& host, std::shared_ptr<RequestGate> gate);
// Nothing on a host that does not know.
std::vector<GateKeeper::Stored> stored_objects(Host& host);

}  // namespace BACKPLANE_API
