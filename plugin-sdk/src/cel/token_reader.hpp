// Steps through the words of an expression, and says what stands where something else should: with upstream's words, and going on behind
// a word too many or too few as upstream's parser does.
//
// Thread-safety: one expression's, used by one thread.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "cel/tokens.hpp"

namespace backplane::cel_detail {

inline constexpr std::string_view kOperandStart =
    "'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER";

class TokenReader {
 public:
  TokenReader(std::string_view source, Problems& problems) : problems_(problems), tokens_(tokenize(source, problems)) {}

  const Token& token() const { return tokens_[at_]; }
  const Token& next(std::size_t count = 1) const { return tokens_[std::min(at_ + count, tokens_.size() - 1)]; }
  Token take() {
    const Token out = token();
    if (at_ + 1 < tokens_.size()) ++at_;
    return out;
  }

  static bool is_sign(const Token& token, std::string_view sign) { return token.kind == TokenKind::kSign && token.text == sign; }
  bool at_sign(std::string_view sign) const { return is_sign(token(), sign); }
  bool skip(std::string_view sign) {
    if (!at_sign(sign)) return false;
    ++at_;
    return true;
  }

  // A literal, a name, or a sign that an operand may begin with.
  static bool begins_operand(const Token& token);

  // What is wrong; always false.
  bool fail(std::size_t offset, std::string text);
  // "mismatched input", or "extraneous input" where without this token it would go on; always false.
  bool refuse_token(std::string_view expected, bool only_extra);
  // Passes over a token without which it goes on.
  bool drop(std::string_view expected, bool goes_on);
  bool expect(std::string_view sign);
  // The end of a list or a map, or one more item.
  bool item_ends(std::string_view close, bool& more);
  // Of a token that stands where a name should, behind `before`.
  std::string no_name(std::string_view before) const;

 private:
  static std::string shown(const Token& token) { return token.kind == TokenKind::kEnd ? "<EOF>" : std::string(token.text); }

  Problems& problems_;
  const std::vector<Token> tokens_;
  std::size_t at_ = 0;
};

}  // namespace backplane::cel_detail
