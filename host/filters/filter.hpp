// Filter: one step of the handler chain.
//
// Most filters decide in enter() and do not wait, which costs a virtual call and no coroutine. A filter that must wait (for a plugin's
// authenticator), or that wraps the inner handlers (panic recovery, the timeout), returns kAwait or kAround and costs a coroutine.
// Thread-safety: filters are immutable after construction, except for atomics. A filter serves any number of requests at the same time.
// Lifetime:      filters outlive all requests. leave() releases what enter() has acquired, however the request ends.
// Errors:        a filter refuses a request with a response. An exception is a bug; WithPanicRecovery catches it.
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
  kNextThenLeave,  // continue; leave() is called when the inner filters and the handler have ended
  kRefuse,         // send call.refusal and stop
  kAwait,          // enter() cannot decide without waiting: await enter_slowly()
  kAround,         // around() runs the inner filters and the handler
};

class AuditRegistrations;

// The response of a filter that refuses a request.
struct Refusal {
  Status status;       // sent in the encoding that the client accepts, if plain_code is 0
  int plain_code = 0;  // if set, the response is `text` and a newline, as plain text like Go's http.Error
  std::string text;
  bool close_connection = false;
  // Set if the refusing filter precedes WithAudit. If a policy of these registrations audits the request, the start of the response is its
  // only event.
  const AuditRegistrations* audit = nullptr;

  static Refusal plain(int code, std::string text) { return Refusal{{}, code, std::move(text)}; }
};

// Data of a request for its access-log line and its metrics.
struct RequestNotes {
  std::chrono::nanoseconds waited{};  // the time in the queue of the request gate
  std::string log_fields;             // additional fields of the access-log line: " key=value"
};

struct PendingAuthorization;

struct FilterCall {
  RequestContext& context;
  RequestNotes* notes = nullptr;
  Refusal refusal = {};
  GatePass pass = {};                                                     // the state that the request gate stores for the request
  std::shared_ptr<PendingAuthorization> pending_authorization = nullptr;  // passed from enter() to enter_slowly() of WithAuthorization

  // The current exchange of the request. around() uses ExchangeScope to set another exchange for the inner filters and the handler.
  Exchange& exchange() const noexcept { return *context.exchange; }
};

class HandlerChain;

// Rest runs the filters inside a filter, and the handler. It is the argument of Filter::around().
class Rest {
 public:
  Rest(const HandlerChain& chain, std::size_t row) : chain_(chain), row_(row) {}
  Task<void> run(FilterCall& call) const;
  // Sends call.refusal instead of running the inner filters and the handler.
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
