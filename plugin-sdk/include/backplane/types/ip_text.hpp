// Addresses as the C library reads them, of texts that need not end where a C string does.
//
// Thread-safety: pure functions.
// Errors:        false for what is no address of that family; `out` then holds nothing of meaning.
#pragma once

#include <string_view>

#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// The bytes in network order: 4, or 16.  A text with a NUL in it is no address, whatever stands before it.
bool read_ipv4(std::string_view text, unsigned char* out) noexcept;
bool read_ipv6(std::string_view text, unsigned char* out) noexcept;

}  // namespace BACKPLANE_API
