// The response to a request that arrives during the drain.
#pragma once

#include "filters/filter.hpp"

namespace backplane {

// 503 with Retry-After: 1.  Another server may already be ready, so the client should retry soon.
inline Step refuse_shutting_down(FilterCall& call) {
  call.exchange().set_response_header("Retry-After", "1");
  call.refusal = Refusal{service_unavailable("apiserver is shutting down"), 0, {}, false};
  return Step::kRefuse;
}

}  // namespace backplane
