// resource.Quantity with its arithmetic: plain values (a whole number and a power of ten) and others are distinguished as
// upstream does, because expressions can observe it (isInteger).
//
// Thread-safety: pure functions; digits lie in the arena.
#pragma once

#include "cel/library_values.hpp"

namespace backplane::cel_detail {

// Errors: upstream's messages.
bool parse_quantity(Arena& arena, std::string_view text, QuantityVal& out, std::string& error);
QuantityVal whole_quantity(std::int64_t value) noexcept;
// False: the digits are too far apart for an exact sum.
bool add_quantities(Arena& arena, const QuantityVal& a, const QuantityVal& b, bool subtract, QuantityVal& out);
int sign_of(const QuantityVal& value) noexcept;
double to_real(const QuantityVal& value);

}  // namespace backplane::cel_detail
