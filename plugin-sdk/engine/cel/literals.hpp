// The values of literals.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "cel/ast.hpp"
#include "cel/value.hpp"

namespace backplane::cel_detail {

// The text between the quotes of a string, or of bytes (without their prefix b), with escapes resolved.  `problem` empty: valid.
struct Unquoted {
  std::string text;
  std::string_view problem;
};
Unquoted unquote(std::string_view token, bool bytes);

// Whole numbers, decimal or 0x…; false: too large.
bool read_int(std::string_view text, bool negative, long long& out);
bool read_uint(std::string_view text, unsigned long long& out);
// false: not a finite number.
bool read_double(std::string_view text, double& out);

// A literal as a value, and its type.
Val literal_val(const Literal& literal);
const Type* literal_type(LiteralKind kind);

}  // namespace backplane::cel_detail
