#include "cel/token_reader.hpp"

#include <array>

namespace backplane::cel_detail {

bool TokenReader::begins_operand(const Token& token) {
  static constexpr std::array<std::string_view, 6> kStartSigns = {"[", "{", "(", ".", "-", "!"};
  if (token.kind == TokenKind::kSign) return std::find(kStartSigns.begin(), kStartSigns.end(), token.text) != kStartSigns.end();
  return token.kind != TokenKind::kEnd && token.kind != TokenKind::kEscaped;
}

bool TokenReader::fail(std::size_t offset, std::string text) {
  problems_.add(offset, "Syntax error: " + std::move(text));
  return false;
}

bool TokenReader::refuse_token(std::string_view expected, bool only_extra) {
  return fail(token().offset,
              (only_extra ? "extraneous input '" : "mismatched input '") + shown(token()) + "' expecting " + std::string(expected));
}

bool TokenReader::drop(std::string_view expected, bool goes_on) {
  if (!goes_on || token().kind == TokenKind::kEnd) return refuse_token(expected, false);
  refuse_token(expected, true);
  ++at_;
  return true;
}

bool TokenReader::expect(std::string_view sign) {
  if (skip(sign)) return true;
  const std::string quoted = "'" + std::string(sign) + "'";
  if (is_sign(next(), sign)) return drop(quoted, true) && skip(sign);
  const bool end = token().kind == TokenKind::kEnd;
  if (sign == ":" && begins_operand(token())) {
    fail(token().offset, "missing ':' at '" + shown(token()) + "'");
    return true;
  }
  if (end && sign != ":") return fail(token().offset, "missing " + quoted + " at '<EOF>'");
  return refuse_token(quoted, false);
}

bool TokenReader::item_ends(std::string_view close, bool& more) {
  const auto ends = [&](const Token& each) { return is_sign(each, ",") || is_sign(each, close); };
  if (!ends(token()) && !drop("{'" + std::string(close) + "', ','}", ends(next()))) return false;
  more = skip(",") && !at_sign(close);
  return more || skip(close) || refuse_token("'" + std::string(close) + "'", false);
}

std::string TokenReader::no_name(std::string_view before) const {
  if (token().kind == TokenKind::kConstant) return "mismatched input '" + shown(token()) + "' expecting IDENTIFIER";
  return "no viable alternative at input '" + std::string(before) + std::string(token().text) + "'";
}

}  // namespace backplane::cel_detail
