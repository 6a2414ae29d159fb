// resource.Quantity with its arithmetic: what is plain (a whole number and a power of ten) and what is not any more is told apart as
// upstream does, since expressions can see it (isInteger).
//
// Thread-safety: pure functions; digits lie in the arena.
#pragma once

#include "cel/library_values.hpp"

namespace backplane::cel_detail {

// Errors: upstream's words.
bool parse_quantity(Arena& arena, std::string_view text, QuantityVal& out, std::string& error);
QuantityVal whole_quantity(std::int64_t value) noexcept;
// False: the two are too far apart to be put into one number.
bool add_quantities(Arena& arena, const QuantityVal& a, const QuantityVal& b, bool subtract, QuantityVal& out);
int sign_of(const QuantityVal& value) noexcept;
double to_real(const QuantityVal& value);

}  // namespace backplane::cel_detail
