// Targets that are another server: the bytes are what it answers to a call of the client.
#pragma once

#include <string>
#include <string_view>

namespace backplane::fuzz {

void http1_backend(std::string_view bytes);
void http2_backend(std::string_view bytes);

// What a server answers to the first call of an HTTP/2 connection.
std::string http2_backend_seed();

}  // namespace backplane::fuzz
