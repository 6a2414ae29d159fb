// Begins and ends the traces of requests: decides which are recorded, and forwards the recorded ones.
//
// Thread-safety: any thread; a request's trace on its executor.
// Lifetime:      outlives the handler chains.
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

  // The request has been authenticated. The parent that it names is respected if the user is privileged (system:masters,
  // system:monitoring); otherwise its trace is a new one, with a link to that parent.
  void begin(const RequestContext& context, const Exchange& exchange, RequestMarks& marks) const;
  // The response has been sent with `code`.
  void end(RequestMarks& marks, int code) const;

 private:
  const RatioSampler sampler_;
  const Sink sink_;
};

// "GET /api/v1/namespaces/{:namespace}/pods/{:name}"; the method for paths outside the resource tree.
std::string server_span_name(const RequestInfo& info, std::string_view method);

}  // namespace backplane::tracing
