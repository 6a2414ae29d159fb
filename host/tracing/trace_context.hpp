// Identifiers of traces and spans, the W3C headers that contain them, and the sampler.
//
// Thread-safety: any thread; the generators of identifiers are thread-local.
// Errors:        none; if traceparent is malformed, the request has no parent; if tracestate is malformed, the state is empty.
// Source:        www.w3.org/TR/trace-context; go.opentelemetry.io/otel/propagation, go.opentelemetry.io/otel/sdk/trace.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace backplane::tracing {

using TraceId = std::array<std::uint8_t, 16>;
using SpanKey = std::array<std::uint8_t, 8>;

// The identity of a span, which is sent to other processes.
struct SpanContext {
  TraceId trace{};
  SpanKey span{};
  bool sampled = false;
  std::string state;  // tracestate
};

// True if neither identifier consists of zeros only.
bool is_valid(const SpanContext& context) noexcept;
// The parent span in the headers of a request; nullopt: there is none, or traceparent is malformed.
std::optional<SpanContext> parse_trace_headers(std::string_view traceparent, std::string_view tracestate);
std::string to_traceparent(const SpanContext& context);

TraceId new_trace_id();
SpanKey new_span_key();

// Selects the traces without a parent that are recorded, by 63 bits of the trace ID. So servers with the same ratio select the same traces,
// and a server with a larger ratio also selects all traces that one with a smaller ratio selects.
class RatioSampler {
 public:
  explicit RatioSampler(double ratio) noexcept;
  bool samples(const TraceId& trace) const noexcept;

 private:
  std::uint64_t limit_;  // traces are selected if 63 bits of their ID are less than this
};

}  // namespace backplane::tracing
