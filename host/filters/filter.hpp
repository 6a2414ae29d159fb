// One step of the handler chain.
//
// A filter decides in enter(), without waiting, in nearly every request: that costs a virtual call and no coroutine.  Only a filter that
// must wait (a plugin's authenticator) or must stand around the rest (panic recovery, the timeout) says so and gets a coroutine for it.
// Thread-safety: filters are immutable after construction and serve any number of requests at once, but for what they share by atomics.
// Lifetime:      a filter outlives every request; what enter() has taken is given back in leave(), whatever way the request ends.
// Errors:        a refusal is an answer; an exception is a bug and ends in the panic recovery.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "backplane/core/request.hpp"
#include "backplane/points/http.hpp"
#include "backplane/points/request_gate.hpp"

namespace backplane {

enum class Step : unsigned char {
  kNext,           // go on
  kNextThenLeave,  // go on, and call leave() when everything behind this filter has ended
  kRefuse,         // answer call.refusal and stop
  kAwait,          // ask again with enter_slowly()
  kAround,         // around() runs what is behind this filter
};

class AuditRegistrations;

// The answer of a filter that does not let a request through.
struct Refusal {
  Status status;       // sent in the encoding the client accepts …
  int plain_code = 0;  // … unless this is set: then `text` as plain text with a newline, as Go's http.Error
  std::string text;
  bool close_connection = false;
  // The request has not come to WithAudit: its only event is the start of this answer, if these audit it.
  const AuditRegistrations* audit = nullptr;

  static Refusal plain(int code, std::string text) { return Refusal{{}, code, std::move(text)}; }
};

// What filters note of a request for its line in the log and its counts.
struct RequestNotes {
  std::chrono::nanoseconds waited{};  // in the gate's queue
  std::string log_fields;             // " key=value", as the line shows them
};

struct FilterCall {
  RequestContext& context;
  RequestNotes* notes = nullptr;
  Refusal refusal = {};
  GatePass pass = {};  // what the request gate has given it

  // The current exchange.  around() changes it for the filters behind it with InFront.
  Exchange& exchange() const noexcept { return *context.exchange; }
};

class HandlerChain;

// Everything behind a filter.
class Rest {
 public:
  Rest(const HandlerChain& chain, std::size_t row) : chain_(chain), row_(row) {}
  Task<void> run(FilterCall& call) const;
  // Answers call.refusal instead.
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
