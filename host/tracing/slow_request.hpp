// Logs the steps and spans of a slow request that took more than their share of the time.
//
// Thread-safety: on the executor of the request.
// Source:        k8s.io/utils/trace: the format of the lines, and the omitted steps.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "tracing/request_trace.hpp"

namespace backplane::tracing {

// Requests that take at least this time are logged; of their spans, those that take at least this time are logged.
inline constexpr std::chrono::milliseconds kSlowRequest{500};

// The content of the log entry of one slow request.
struct SlowRequest {
  std::string name;        // the name of the handler, such as "Update"
  std::string fields;      // "key:value,key:value"
  std::int64_t begin = 0;  // nanoseconds since 1970
  std::int64_t end = 0;
  unsigned number = 0;  // a random number in the prefix of each line, "Trace[number]"
};

// The lines of the log entry. `root`: the span of the handler, which contains the steps and spans.
std::vector<std::string> explain(const SlowRequest& request, const std::vector<LogItem>& items, RequestTrace::SpanId root);
// Logs the lines if the request has taken at least kSlowRequest. `name`: SlowRequest::name; `root`: the span of the handler.
void log_if_slow(const RequestContext& context, const char* name, RequestTrace::SpanId root);

}  // namespace backplane::tracing
