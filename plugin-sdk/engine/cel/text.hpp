// Numbers and values as text, and back, as Go's strconv and fmt do it.
//
// Thread-safety: pure functions; texts lie in the arena.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cel/value.hpp"

namespace backplane::cel_detail {

// Like strconv.FormatFloat: append_real() with 'g' and the fewest digits, append_fixed() with 'f' and `digits` digits.
void append_real(std::string& out, double value);
void append_fixed(std::string& out, double value, int digits);
// Like String() of time.Duration: "1h0m0s".
void append_go_duration(std::string& out, std::int64_t nanoseconds);
// Like strconv.Quote.
std::string quoted(std::string_view text);

std::optional<std::int64_t> parse_int(std::string_view text);
std::optional<std::uint64_t> parse_uint(std::string_view text);
std::optional<double> parse_real(std::string_view text);
std::optional<bool> parse_bool(std::string_view text);
bool is_utf8(std::string_view text) noexcept;

// string(x); an error if there is no such conversion.
Val to_text_val(Arena& arena, const Val& value);
// Converts the value like a conversion function: int(x), bytes(x) …
Val convert(Arena& arena, const Val& value, ValKind to);

}  // namespace backplane::cel_detail
