// Targets of the server's HTTP connections: the bytes are sent by the client.
#pragma once

#include <string>
#include <string_view>

namespace backplane::fuzz {

void http1_session(std::string_view bytes);
void http2_session(std::string_view bytes);

// A seed: the bytes of an HTTP/2 client that sends a few requests.
std::string http2_seed();

}  // namespace backplane::fuzz
