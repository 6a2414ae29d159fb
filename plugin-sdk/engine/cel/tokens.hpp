// The tokens of a CEL expression.
//
// Thread-safety: pure functions.
// Lifetime:      tokens borrow the source.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "cel/problems.hpp"

namespace backplane::cel_detail {

enum class TokenKind : unsigned char {
  kEnd,
  kIdentifier,
  kEscaped,  // `a-b`
  kInt,
  kUint,
  kFloat,
  kString,
  kBytes,
  kConstant,  // true, false, null
  kSign       // operators and brackets; `in`, too
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;
  std::size_t offset = 0;  // in bytes
};

// The result ends with a kEnd token.  Invalid text is skipped and reported.
std::vector<Token> tokenize(std::string_view source, Problems& problems);

}  // namespace backplane::cel_detail
