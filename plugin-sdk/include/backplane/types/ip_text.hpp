// Strict parsing of addresses with inet_pton, for texts that are not NUL-terminated.
//
// Thread-safety: pure functions.
// Errors:        false if `text` is not an address of that family; `out` is then unspecified.
#pragma once

#include <string_view>

#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// Writes the address to `out`, which has room for 4 (IPv4) or 16 (IPv6) bytes, in network byte order. A text that contains a NUL byte is
// not an address.
bool read_ipv4(std::string_view text, unsigned char* out) noexcept;
bool read_ipv6(std::string_view text, unsigned char* out) noexcept;

}  // namespace BACKPLANE_API
