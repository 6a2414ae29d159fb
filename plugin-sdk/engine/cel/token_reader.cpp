#include "cel/token_reader.hpp"

#include <array>

namespace backplane::cel_detail {
namespace {

std::string on_one_line(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '\n' ? "\\n" : c == '\t' ? "\\t" : c == '\r' ? "\\r" : std::string(1, c);
  return out;
}

}  // namespace

std::string TokenReader::shown(const Token& token) { return token.kind == TokenKind::kEnd ? "<EOF>" : on_one_line(token.text); }

bool TokenReader::begins_operand(const Token& token) {
  static constexpr std::array<std::string_view, 6> kStartSigns = {"[", "{", "(", ".", "-", "!"};
  if (token.kind == TokenKind::kSign) return std::find(kStartSigns.begin(), kStartSigns.end(), token.text) != kStartSigns.end();
  return token.kind != TokenKind::kEnd && token.kind != TokenKind::kEscaped;
}

Follow TokenReader::follow_of(const Token& token) {
  struct Sign {
    std::string_view text;
    Follow follow;
  };
  static constexpr Sign kSigns[] = {{"?", kQuestion},
                                    {":", kColon},
                                    {"||", kOr},
                                    {"&&", kAnd},
                                    {"<", kRelation},
                                    {"<=", kRelation},
                                    {">", kRelation},
                                    {">=", kRelation},
                                    {"==", kRelation},
                                    {"!=", kRelation},
                                    {"in", kRelation},
                                    {"+", kSum},
                                    {"-", kSum},
                                    {"*", kProduct},
                                    {"/", kProduct},
                                    {"%", kProduct},
                                    {".", kDot},
                                    {"[", kBracket},
                                    {")", kCloseParenthesis},
                                    {"]", kCloseBracket},
                                    {",", kComma},
                                    {"}", kCloseBrace}};
  if (token.kind == TokenKind::kEnd) return kEndOfText;
  for (const Sign& each : kSigns) {
    if (is_sign(token, each.text)) return each.follow;
  }
  return 0;
}

Follow TokenReader::all_follows() const {
  Follow out = 0;
  for (const Rule& each : rules_) out |= each.follow;
  return out & ~kMayEnd;
}

Follow TokenReader::follow_of_bracket() const {
  Follow out = kDot | kBracket;
  for (auto each = rules_.rbegin(); each != rules_.rend(); ++each) {
    out |= each->follow;
    if ((each->follow & kMayEnd) == 0) break;
  }
  return out & ~kMayEnd;
}

void TokenReader::recover(char rule) {
  if (failed_at_ == at_ && failed_rules_.find(rule) != std::string::npos && token().kind != TokenKind::kEnd) ++at_;
  if (failed_at_ != at_) failed_rules_.clear();
  failed_at_ = at_;
  failed_rules_.push_back(rule);
  const Follow until = all_follows();
  while (token().kind != TokenKind::kEnd && (follow_of(token()) & until) == 0) ++at_;
}

void TokenReader::pass_to_operand() {
  const Follow until = all_follows();
  while (token().kind != TokenKind::kEnd && !begins_operand(token()) && (follow_of(token()) & until) == 0) ++at_;
}

bool TokenReader::fail(std::size_t offset, std::string text) {
  if (!recovering_) problems_.add(offset, "Syntax error: " + std::move(text));
  recovering_ = true;
  return false;
}

bool TokenReader::refuse_token(std::string_view expected, bool only_extra) {
  return fail(token().offset,
              (only_extra ? "extraneous input '" : "mismatched input '") + shown(token()) + "' expecting " + std::string(expected));
}

bool TokenReader::drop(std::string_view expected, bool continues) {
  if (recovering_) return false;
  if (!continues || token().kind == TokenKind::kEnd) return refuse_token(expected, false);
  refuse_token(expected, true);
  ++at_;
  recovering_ = false;
  return true;
}

bool TokenReader::expect(std::string_view sign) {
  if (skip(sign)) return true;
  const std::string quoted = "'" + std::string(sign) + "'";
  if (is_sign(next(), sign)) {
    refuse_token(quoted, true);
    ++at_;
    return skip(sign);
  }
  const bool left_out = sign == ":" ? begins_operand(token()) : (follow_of(token()) & follow_of_bracket()) != 0;
  if (!left_out) return refuse_token(quoted, false);
  fail(token().offset, "missing " + quoted + " at '" + shown(token()) + "'");
  return true;
}

bool TokenReader::item_ends(std::string_view close, bool& more) {
  const auto ends = [&](const Token& each) { return is_sign(each, ",") || is_sign(each, close); };
  if (!ends(token()) && !recovering_ && !drop("{'" + std::string(close) + "', ','}", ends(next()))) return false;
  more = skip(",") && (begins_operand(token()) || token().kind == TokenKind::kEscaped || at_sign("?"));
  return more || expect(close);
}

bool TokenReader::no_viable_alternative() {
  const Token& bad = next();
  const std::size_t end = token().offset + token().text.size();
  std::string input(token().text);
  if (bad.kind == TokenKind::kConstant && bad.offset == end) {
    return fail(bad.offset, "mismatched input '" + shown(bad) + "' expecting IDENTIFIER");
  }
  // The error shows blanks between the two tokens, but no invalid tokens.
  for (const char c : source_.substr(end, bad.kind == TokenKind::kEnd ? 0 : bad.offset - end)) {
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') input.push_back(c);
  }
  input += bad.text;
  return fail(bad.offset, "no viable alternative at input '" + on_one_line(input) + "'");
}

}  // namespace backplane::cel_detail
