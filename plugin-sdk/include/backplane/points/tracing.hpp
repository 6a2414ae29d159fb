// The trace of one request: its steps and its spans. The log of slow requests shows the steps. The spans are exported if the request is
// sampled (--tracing-config-file).
//
// Names must be string literals, because only their addresses are stored. While nothing is exported, a step or a span costs two reads of a
// coarse clock.
//
// Thread-safety: like RequestContext: one thread at a time.
// Lifetime:      spans end before their request ends. A TraceSpan is a local variable of the function whose work it measures.
// Errors:        none; spans beyond the limits of a trace are dropped.
// Source:        k8s.io/component-base/tracing, k8s.io/utils/trace, OpenTelemetry's specification of traces.
#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

#include "backplane/core/request.hpp"
#include "backplane/core/visibility.hpp"
#include "backplane/points/http.hpp"

namespace backplane BACKPLANE_API {

// The values are those of OTLP.
enum class SpanKind : unsigned char { kInternal = 1, kServer = 2, kClient = 3 };

using TraceValue = std::variant<std::string_view, std::int64_t, bool>;

// The trace of one request. The host creates it; other code uses TraceSpan and trace_step().
class RequestTrace {
 public:
  using SpanId = std::uint32_t;
  static constexpr SpanId kServerSpan = 0;       // the span of the whole request; never ended through this interface
  static constexpr SpanId kNoSpan = ~SpanId{0};  // begin() returns it for a span that is not recorded; calls with it have no effect
  virtual ~RequestTrace();

  // True if spans are exported with their attributes.
  bool recorded() const noexcept { return recorded_; }

  // Begins a span now. `name` is a string literal. Returns kNoSpan if a limit of the trace is reached, or if spans of this kind are not
  // recorded.
  virtual SpanId begin(SpanId parent, const char* name, SpanKind kind) = 0;
  // Sets the end of the span to now.
  virtual void end(SpanId span) noexcept = 0;
  // Adds an event at the current time to the span. `name` is a string literal.
  virtual void step(SpanId span, const char* name) = 0;
  // Like step() above, with one attribute.
  virtual void step(SpanId span, const char* name, std::string_view key, TraceValue value) = 0;
  // Adds an attribute; copies key and value.
  virtual void set(SpanId span, std::string_view key, TraceValue value) = 0;
  // Sets the status of an exported span to error, with this description.
  virtual void fail(SpanId span, std::string_view description) = 0;
  // Appends the headers Traceparent, Tracestate and Baggage, if they are known. If this request is not traced, their values are those that
  // the client sent.
  virtual void propagate(SpanId span, Headers& headers) const = 0;

  // The innermost open span.
  SpanId current = kServerSpan;

 protected:
  bool recorded_ = false;
};

// Adds an event to the current span: a part of its work has ended. `name` is a string literal.
inline void trace_step(RequestContext& context, const char* name) {
  if (context.trace != nullptr) context.trace->step(context.trace->current, name);
}
inline void trace_step(RequestContext& context, const char* name, std::string_view key, TraceValue value) {
  if (context.trace != nullptr) context.trace->step(context.trace->current, name, key, value);
}
// Appends the W3C headers (traceparent, tracestate, baggage) of the current span to `headers`, the headers of a call to another server.
// Without effect if `context` is null.
void propagate_trace(const RequestContext* context, Headers& headers);

// Measures a scope as a child of the current span. Until the scope ends, the new span is the current span (unless Use::kConcurrent).
//
//   TraceSpan span(context, "Call mutating webhook");
//   span.set("webhook", name);
//   …
//   span.step("Request completed");
class TraceSpan {
 public:
  // How the span relates to the current span and to the log of slow requests.
  enum class Use : unsigned char {
    kNested,      // is the current span during its lifetime; the log of slow requests shows it
    kExported,    // like kNested, but recorded only if spans are exported: for scopes in very short requests
    kConcurrent,  // is never the current span: for calls that run at the same time
  };
  TraceSpan(RequestContext* context, const char* name, SpanKind kind = SpanKind::kInternal, Use use = Use::kNested)
      : trace_(context != nullptr ? context->trace : nullptr) {
    if (trace_ != nullptr && use == Use::kExported && !trace_->recorded()) trace_ = nullptr;
    if (trace_ != nullptr) enter(trace_->current, name, kind, use != Use::kConcurrent);
  }
  // Creates a child of `parent`. The child never becomes the current span.
  TraceSpan(const TraceSpan& parent, const char* name, SpanKind kind) : trace_(parent.trace_) {
    if (trace_ != nullptr) enter(parent.id_, name, kind, false);
  }
  ~TraceSpan() {
    if (trace_ != nullptr) leave();
  }
  TraceSpan(const TraceSpan&) = delete;
  TraceSpan& operator=(const TraceSpan&) = delete;

  // True if attributes are exported. Check it before computing expensive attributes.
  bool recorded() const noexcept { return trace_ != nullptr && trace_->recorded(); }
  // Adds an attribute to the span.
  void set(std::string_view key, TraceValue value) {
    if (trace_ != nullptr) trace_->set(id_, key, value);
  }
  // Adds an event: a part of the work has ended. `name` is a string literal.
  void step(const char* name) {
    if (trace_ != nullptr) trace_->step(id_, name);
  }
  void step(const char* name, std::string_view key, TraceValue value) {
    if (trace_ != nullptr) trace_->step(id_, name, key, value);
  }
  // Marks the span as failed, with this description.
  void fail(std::string_view description) {
    if (trace_ != nullptr) trace_->fail(id_, description);
  }
  // Appends the W3C headers with which another server makes its spans children of this span.
  void propagate(Headers& headers) const {
    if (trace_ != nullptr) trace_->propagate(id_, headers);
  }

 private:
  void enter(RequestTrace::SpanId parent, const char* name, SpanKind kind, bool nested);
  void leave() noexcept;

  RequestTrace* trace_;
  RequestTrace::SpanId id_ = RequestTrace::kNoSpan;
  RequestTrace::SpanId outer_ = RequestTrace::kNoSpan;
  bool nested_ = false;
};

}  // namespace BACKPLANE_API
