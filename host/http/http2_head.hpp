// Submits HTTP/2 response heads, and provides the bytes of response bodies.
//
// Thread-safety: the session's executor.
#pragma once

#include <nghttp2/nghttp2.h>

#include "http/http_exchange.hpp"

namespace backplane {

// Queues the HEADERS frame of a response: :status, the headers of `head` sorted by lower-case name, content-length, date. The output of
// `exchange` is sent in DATA frames. If `exchange` is null, the response has no body, and the HEADERS frame ends the stream.
void submit_http2_head(nghttp2_session* session, std::int32_t stream_id, const ResponseHead& head, HttpExchange* exchange);
// Queues the interim response 100 (Continue).
void submit_http2_continue(nghttp2_session* session, std::int32_t stream_id);

}  // namespace backplane
