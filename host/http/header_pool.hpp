// Lists of headers whose memory goes from one exchange to the next of its thread.
//
// Thread-safety: any thread; each keeps its own.
#pragma once

#include "backplane/points/http.hpp"

namespace backplane {

// An empty one with room for an ordinary request or response.
Headers take_headers();
void give_headers_back(Headers headers) noexcept;

}  // namespace backplane
