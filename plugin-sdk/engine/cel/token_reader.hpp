// Steps through the tokens of an expression and reports unexpected ones with upstream's messages; recovers from an extraneous or missing
// token as upstream's parser does.
//
// Thread-safety: an instance belongs to one expression and one thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cel/tokens.hpp"

namespace backplane::cel_detail {

inline constexpr std::string_view kOperandStart =
    "'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER";

// The tokens that may follow a rule where it is used (its follow set).  kMayEnd: the enclosing rule may end there, too.
using Follow = std::uint32_t;
enum FollowBit : Follow {
  kMayEnd = 1u << 0,
  kQuestion = 1u << 1,
  kColon = 1u << 2,
  kOr = 1u << 3,
  kAnd = 1u << 4,
  kRelation = 1u << 5,
  kSum = 1u << 6,
  kProduct = 1u << 7,
  kDot = 1u << 8,
  kBracket = 1u << 9,
  kCloseParenthesis = 1u << 10,
  kCloseBracket = 1u << 11,
  kComma = 1u << 12,
  kCloseBrace = 1u << 13,
  kEndOfText = 1u << 14,
};

class TokenReader {
 public:
  TokenReader(std::string_view source, Problems& problems) : problems_(problems), source_(source), tokens_(tokenize(source, problems)) {}

  const Token& token() const { return tokens_[at_]; }
  const Token& next(std::size_t count = 1) const { return tokens_[std::min(at_ + count, tokens_.size() - 1)]; }
  Token take() {
    const Token out = token();
    if (at_ + 1 < tokens_.size()) ++at_;
    recovering_ = false;
    return out;
  }

  static bool is_sign(const Token& token, std::string_view sign) { return token.kind == TokenKind::kSign && token.text == sign; }
  bool at_sign(std::string_view sign) const { return is_sign(token(), sign); }
  bool skip(std::string_view sign) {
    if (!at_sign(sign)) return false;
    ++at_;
    recovering_ = false;
    return true;
  }

  // A literal, a name, or another token that begins an operand.
  static bool begins_operand(const Token& token);

  // The scope of a rule; `follow` is its follow set.
  class Within {
   public:
    Within(TokenReader& reader, Follow follow) : reader_(reader) { reader_.rules_.push_back({follow, reader.token().offset}); }
    ~Within() { reader_.rules_.pop_back(); }

   private:
    TokenReader& reader_;
  };
  // Skips tokens that can follow none of the open rules; no further problems are reported until a token matches again. `rule`: the failed
  // rule; if it fails twice at one token, that token is skipped.
  void recover(char rule);
  bool recovering() const { return recovering_; }
  // The start of the innermost rule.
  std::size_t rule_begin() const { return rules_.back().begin; }
  // Skips tokens that neither begin an operand nor are in the follow set.
  void pass_to_operand();

  // Reports a problem; always false.
  bool fail(std::size_t offset, std::string text);
  // "mismatched input", or "extraneous input" if parsing can continue without this token; always false.
  bool refuse_token(std::string_view expected, bool only_extra);
  // Skips an extraneous token.
  bool drop(std::string_view expected, bool continues);
  bool expect(std::string_view sign);
  // Reads the end of a list or a map, or a further item's comma.
  bool item_ends(std::string_view close, bool& more);
  // Reports that no rule matches this token followed by the next one; always false.
  bool no_viable_alternative();

 private:
  static std::string shown(const Token& token);

  static Follow follow_of(const Token& token);
  Follow all_follows() const;
  // The tokens that may follow a closing bracket here.
  Follow follow_of_bracket() const;

  Problems& problems_;
  const std::string_view source_;
  struct Rule {
    Follow follow;
    std::size_t begin;
  };
  std::vector<Rule> rules_;
  bool recovering_ = false;
  std::size_t failed_at_ = static_cast<std::size_t>(-1);
  std::string failed_rules_;  // rules that have failed at that token
  const std::vector<Token> tokens_;
  std::size_t at_ = 0;
};

}  // namespace backplane::cel_detail
