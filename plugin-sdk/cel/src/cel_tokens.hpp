// The words of a CEL expression.
//
// Thread-safety: pure functions.
// Lifetime:      tokens borrow the source.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace backplane::cel {

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

// What is wrong with a source, and where.
struct SourceProblem {
  std::size_t offset = 0;
  std::string text;
};

// Ends with a kEnd.  What is no token is passed over and told of.
std::vector<Token> tokenize(std::string_view source, std::vector<SourceProblem>& problems);

}  // namespace backplane::cel
