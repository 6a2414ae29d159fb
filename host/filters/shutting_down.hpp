// The answer to a request that comes after the drain has begun.
#pragma once

#include "filters/filter.hpp"

namespace backplane {

// 503 with Retry-After: 1.  Another server may be there already, so a tight retry is good for the client.
inline Step refuse_shutting_down(FilterCall& call) {
  call.exchange().set_response_header("Retry-After", "1");
  call.refusal = Refusal{service_unavailable("apiserver is shutting down"), 0, {}, false};
  return Step::kRefuse;
}

}  // namespace backplane
