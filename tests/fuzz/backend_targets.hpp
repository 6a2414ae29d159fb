// Targets of the HTTP client: the bytes are the response of a server to a call.
#pragma once

#include <string>
#include <string_view>

namespace backplane::fuzz {

void http1_backend(std::string_view bytes);
void http2_backend(std::string_view bytes);

// A server's response to the first call of an HTTP/2 connection.
std::string http2_backend_seed();

}  // namespace backplane::fuzz
