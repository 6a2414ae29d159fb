// Targets that are a connection: the bytes are the peer's.
#pragma once

#include <string>
#include <string_view>

namespace backplane::fuzz {

void http1_session(std::string_view bytes);
void http2_session(std::string_view bytes);

// A connection of HTTP/2 with a few requests on it.
std::string http2_seed();

}  // namespace backplane::fuzz
