// A per-thread pool of header lists, so that exchanges reuse their memory.
//
// Thread-safety: any thread.
#pragma once

#include "backplane/points/http.hpp"

namespace backplane {

// Returns an empty list that has capacity for a typical request or response.
Headers take_headers();
void recycle_headers(Headers headers) noexcept;

}  // namespace backplane
