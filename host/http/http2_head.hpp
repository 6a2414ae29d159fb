// The HTTP/2 response head and the data provider of the body.
//
// Thread-safety: the session's executor.
#pragma once

#include <nghttp2/nghttp2.h>

#include "http/http_exchange.hpp"

namespace backplane {

// Queues HEADERS: the handler's by name in lower case, then content-length and date. With `body`, DATA frames follow when the exchange has
// output; without it, the stream ends here.
void submit_http2_head(nghttp2_session* session, std::int32_t stream_id, const ResponseHead& head, HttpExchange* body);
// Queues the interim response 100.
void submit_http2_continue(nghttp2_session* session, std::int32_t stream_id);

}  // namespace backplane
