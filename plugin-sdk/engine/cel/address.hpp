// IP addresses and networks as Go's net/netip reads and prints them.
//
// Thread-safety: pure functions.
// Errors:        Go's message: `ParseAddr("x"): unable to parse IP`.
#pragma once

#include "cel/library_values.hpp"

namespace backplane::cel_detail {

bool parse_address(std::string_view text, IpVal& out, bool& has_zone, std::string& error);
bool parse_prefix(std::string_view text, CidrVal& out, std::string& error);
bool is_mapped_v4(const IpVal& address) noexcept;
// The address with all bits after the first `bits` set to zero.
IpVal masked_address(const IpVal& address, unsigned bits) noexcept;

}  // namespace backplane::cel_detail
