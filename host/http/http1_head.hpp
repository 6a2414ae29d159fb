// The HTTP/1 response head and chunk framing, as net/http writes them.
//
// Thread-safety: any thread.
#pragma once

#include <string>

#include "http/http_exchange.hpp"

namespace backplane {

struct Http1Framing {
  bool http10 = false;
  bool chunked = false;
  bool keep_alive = true;
  bool switched = false;  // Connection: Upgrade
};

// Appends the status line and the headers: first the handler's headers, sorted by name, then Date, Content-Length, Connection and
// Transfer-Encoding.
void append_http1_head(std::string& out, const ResponseHead& head, Http1Framing framing);
// "1f4\r\n" for 500.
void append_chunk_size(std::string& out, std::size_t size);

}  // namespace backplane
