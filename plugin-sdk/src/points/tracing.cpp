#include "backplane/points/tracing.hpp"

namespace backplane BACKPLANE_API {

RequestTrace::~RequestTrace() = default;

void propagate_trace(const RequestContext* context, Headers& headers) {
  if (context != nullptr && context->trace != nullptr) context->trace->propagate(context->trace->current, headers);
}

void TraceSpan::enter(RequestTrace::SpanId parent, const char* name, SpanKind kind, bool nested) {
  id_ = trace_->begin(parent, name, kind);
  nested_ = nested && id_ != RequestTrace::kNoSpan;
  if (nested_) outer_ = std::exchange(trace_->current, id_);
}

void TraceSpan::leave() noexcept {
  trace_->end(id_);
  if (nested_) trace_->current = outer_;
}

}  // namespace BACKPLANE_API
