// The HTTP/2 response head and the data provider of the body.
//
// Thread-safety: the session's executor.
#pragma once

#include <nghttp2/nghttp2.h>

#include "http/http_exchange.hpp"

namespace backplane {

// Queues the HEADERS frame of a response: :status, the headers of `head` sorted by their lower-case name, then content-length and date.
// `exchange`: its output is sent in DATA frames; null: the response has no body, so the HEADERS frame ends the stream.
void submit_http2_head(nghttp2_session* session, std::int32_t stream_id, const ResponseHead& head, HttpExchange* exchange);
// Queues the interim response 100 (Continue).
void submit_http2_continue(nghttp2_session* session, std::int32_t stream_id);

}  // namespace backplane
