// Explains in the log where the time of a slow request went: the steps and the spans that took more than their share.
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

// The threshold from which requests and their spans are explained.
inline constexpr std::chrono::milliseconds kSlowRequest{500};

// The content of the log entry of one slow request.
struct SlowRequest {
  std::string name;        // of the handler: "Update"
  std::string fields;      // "key:value,key:value"
  std::int64_t begin = 0;  // nanoseconds since 1970
  std::int64_t end = 0;
  unsigned number = 0;  // at the beginning of each line
};

// The lines for a request whose steps and spans are children of `root`.
std::vector<std::string> explain(const SlowRequest& request, const std::vector<LogItem>& items, RequestTrace::SpanId root);
// Writes the lines if the request has taken longer than the threshold. `name`: as above; `root`: the span of the handler.
void log_if_slow(const RequestContext& context, const char* name, RequestTrace::SpanId root);

}  // namespace backplane::tracing
