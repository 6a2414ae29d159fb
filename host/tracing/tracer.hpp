// Begins and ends the traces of requests: decides which requests are recorded, and passes the recorded spans to a function.
//
// Thread-safety: any thread; one thread at a time uses the trace of a request.
// Lifetime:      must exist as long as the handler chains.
// Source:        k8s.io/apiserver/pkg/endpoints/filters/traces.go, otelhttp's handler, OpenTelemetry's parent-based sampler.
#pragma once

#include <functional>
#include <vector>

#include "tracing/request_trace.hpp"

namespace backplane::tracing {

class Tracer {
 public:
  using Sink = std::function<void(std::vector<SpanData>)>;
  // `ratio`: the share of the traces without a parent that is recorded.
  Tracer(double ratio, Sink sink) : sampler_(ratio), sink_(std::move(sink)) {}

  // To be called after authentication. If the user is privileged (system:masters, system:monitoring), the request continues the trace in
  // its headers; otherwise it begins a new trace, with a link to the trace in the headers.
  void begin(const RequestContext& context, const Exchange& exchange, RequestMarks& marks) const;
  // To be called after the response. `code`: the HTTP status code; 0: unknown.
  void end(RequestMarks& marks, int code) const;

 private:
  const RatioSampler sampler_;
  const Sink sink_;
};

// The name of the request's span: "GET /api/v1/namespaces/{:namespace}/pods/{:name}". For requests that are not for resources: the method.
std::string server_span_name(const RequestInfo& info, std::string_view method);

}  // namespace backplane::tracing
