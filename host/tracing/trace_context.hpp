// Identifiers of traces and spans, the W3C headers that carry them, and the sampler.
//
// Thread-safety: pure functions; the generators of identifiers are thread-local.
// Errors:        a header that cannot be read is no parent; a tracestate that cannot be read is empty.
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

// The identity of a span for other processes.
struct SpanContext {
  TraceId trace{};
  SpanKey span{};
  bool sampled = false;
  std::string state;  // tracestate
};

// Neither identifier is all zeros.
bool is_valid(const SpanContext& context) noexcept;
// The parent that a request names.
std::optional<SpanContext> parse_trace_headers(std::string_view traceparent, std::string_view tracestate);
std::string to_traceparent(const SpanContext& context);

TraceId new_trace_id();
SpanKey new_span_key();

// The share of the traces without a parent that is recorded. Servers with the same ratio choose the same traces, and those of a smaller
// ratio are among those of a larger one.
class RatioSampler {
 public:
  explicit RatioSampler(double ratio) noexcept;
  bool samples(const TraceId& trace) const noexcept;

 private:
  std::uint64_t limit_;  // of the 63 bits that are compared
};

}  // namespace backplane::tracing
