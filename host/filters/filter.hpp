// One step of the handler chain.
//
// A filter usually decides in enter(), without waiting: that costs a virtual call and no coroutine.  Only a filter that must wait (for a
// plugin's authenticator) or that wraps the inner handlers (panic recovery, the timeout) returns another Step and costs a coroutine.
// Thread-safety: filters are immutable after construction, except for atomics, and serve any number of requests at once.
// Lifetime:      a filter outlives every request; leave() releases what enter() has acquired, however the request ends.
// Errors:        a refusal is a response; an exception is a bug and ends in the panic recovery.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "backplane/core/request.hpp"
#include "backplane/points/http.hpp"
#include "backplane/points/request_gate.hpp"

namespace backplane {

enum class Step : unsigned char {
  kNext,           // continue with the next filter
  kNextThenLeave,  // continue, and call leave() when the inner filters and the handler have ended
  kRefuse,         // send call.refusal and stop
  kAwait,          // enter() cannot decide: await enter_slowly()
  kAround,         // around() runs the inner filters and the handler
};

class AuditRegistrations;

// The response of a filter that refuses a request.
struct Refusal {
  Status status;       // sent in the encoding the client accepts …
  int plain_code = 0;  // … unless this is set: then `text` as plain text with a newline, as Go's http.Error
  std::string text;
  bool close_connection = false;
  // Set for a refusal that precedes WithAudit: if these registrations audit the request, the start of this response is its only event.
  const AuditRegistrations* audit = nullptr;

  static Refusal plain(int code, std::string text) { return Refusal{{}, code, std::move(text)}; }
};

// Data of a request for its access-log line and its metrics.
struct RequestNotes {
  std::chrono::nanoseconds waited{};  // in the request gate's queue
  std::string log_fields;             // " key=value", as the line shows them
};

struct PendingAuthorization;

struct FilterCall {
  RequestContext& context;
  RequestNotes* notes = nullptr;
  Refusal refusal = {};
  GatePass pass = {};                                                     // the state of the request gate
  std::shared_ptr<PendingAuthorization> pending_authorization = nullptr;  // from enter() to enter_slowly() of WithAuthorization

  // The current exchange.  around() replaces it for the inner filters by InFront.
  Exchange& exchange() const noexcept { return *context.exchange; }
};

class HandlerChain;

// The inner filters and the handler of a filter.
class Rest {
 public:
  Rest(const HandlerChain& chain, std::size_t row) : chain_(chain), row_(row) {}
  Task<void> run(FilterCall& call) const;
  // Sends call.refusal instead.
  Task<void> refuse(FilterCall& call) const;

 private:
  const HandlerChain& chain_;
  std::size_t row_;
};

class Filter {
 public:
  virtual ~Filter() = default;
  virtual Step enter(FilterCall& call) const = 0;
  virtual void leave(FilterCall& call) const noexcept;
  virtual Task<Step> enter_slowly(FilterCall& call) const;
  virtual Task<void> around(FilterCall& call, Rest rest) const;
};

}  // namespace backplane
