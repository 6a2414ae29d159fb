// The spans of the handlers, named as kube-apiserver names them, and their steps.
//
// Thread-safety: on the executor of the request.
#pragma once

#include "backplane/points/tracing.hpp"
#include "endpoints/negotiation.hpp"
#include "endpoints/verbs.hpp"
#include "tracing/request_fields.hpp"
#include "tracing/slow_request.hpp"

namespace backplane::endpoints {

// Null: a handler without a span.
const char* span_name(Verb verb) noexcept;

// The span of a handler. The end explains a slow request in the log, unless the request lasts by its nature.
class HandlerSpan {
 public:
  HandlerSpan(RequestContext& context, Verb verb, bool lasts)
      : context_(context), name_(span_name(verb)), lasts_(lasts), span_(name_ != nullptr ? &context : nullptr, name_) {
    if (span_.recorded()) describe();
  }
  ~HandlerSpan() {
    if (name_ != nullptr && !lasts_ && context_.trace != nullptr) tracing::log_if_slow(context_, name_, context_.trace->current);
  }
  HandlerSpan(const HandlerSpan&) = delete;
  HandlerSpan& operator=(const HandlerSpan&) = delete;

 private:
  void describe();

  RequestContext& context_;
  const char* const name_;
  const bool lasts_;
  TraceSpan span_;
};

// A step that only exported spans have: the steps of the shortest requests.
inline void exported_step(RequestContext& context, const char* name) {
  if (context.trace != nullptr && context.trace->recorded()) trace_step(context, name);
}

// The attributes of "SerializeObject".
void describe_serialization(TraceSpan& span, const RequestContext& context, const Exchange& exchange, const MediaType& media);

}  // namespace backplane::endpoints
