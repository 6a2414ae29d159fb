// The response to a request that arrives during the drain.
#pragma once

#include "filters/filter.hpp"

namespace backplane {

// Responds with 503 and Retry-After: 1. The client should retry soon, because another server may be ready.
inline Step refuse_shutting_down(FilterCall& call) {
  call.exchange().set_response_header("Retry-After", "1");
  call.refusal = Refusal{service_unavailable("apiserver is shutting down"), 0, {}, false};
  return Step::kRefuse;
}

}  // namespace backplane
