// The trace spans of handlers, with kube-apiserver's names, and their steps.
//
// Thread-safety: the executor of the request.
#pragma once

#include "backplane/points/tracing.hpp"
#include "endpoints/negotiation.hpp"
#include "endpoints/verbs.hpp"
#include "tracing/request_fields.hpp"
#include "tracing/slow_request.hpp"

namespace backplane::endpoints {

// Returns null if the handler has no span.
const char* span_name(Verb verb) noexcept;

// The span of a handler. The destructor writes a log message if the request was slow, unless `long_running` is true: such a request may
// take a long time.
class HandlerSpan {
 public:
  HandlerSpan(RequestContext& context, Verb verb, bool long_running)
      : context_(context), name_(span_name(verb)), long_running_(long_running), span_(name_ != nullptr ? &context : nullptr, name_) {
    if (span_.recorded()) describe();
  }
  ~HandlerSpan() {
    if (name_ != nullptr && !long_running_ && context_.trace != nullptr) tracing::log_if_slow(context_, name_, context_.trace->current);
  }
  HandlerSpan(const HandlerSpan&) = delete;
  HandlerSpan& operator=(const HandlerSpan&) = delete;

 private:
  void describe();

  RequestContext& context_;
  const char* const name_;
  const bool long_running_;
  TraceSpan span_;
};

// Adds a step only if the span is exported. Used by the shortest requests.
inline void exported_step(RequestContext& context, const char* name) {
  if (context.trace != nullptr && context.trace->recorded()) trace_step(context, name);
}

// Sets the attributes of the span "SerializeObject".
void describe_serialization(TraceSpan& span, const RequestContext& context, const Exchange& exchange, const MediaType& media);

}  // namespace backplane::endpoints
