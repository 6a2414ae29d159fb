// Strict parsing of addresses with inet_pton, for texts that are not NUL-terminated.
//
// Thread-safety: pure functions.
// Errors:        false if `text` is not an address of that family; `out` is then unspecified.
#pragma once

#include <string_view>

#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// Write the address in network byte order to `out`, which has room for 4 bytes (IPv4) or 16 bytes (IPv6). A text that contains a NUL byte
// is not an address.
bool read_ipv4(std::string_view text, unsigned char* out) noexcept;
bool read_ipv6(std::string_view text, unsigned char* out) noexcept;

}  // namespace BACKPLANE_API
