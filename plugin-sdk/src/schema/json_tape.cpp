#include "schema/json_tape.hpp"

#include <string>

namespace backplane::schema {
namespace {

constexpr std::size_t kKeptTokens = 16 * 1024;

bool is_space(char c) noexcept { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

std::uint32_t hex_unit(std::string_view text) noexcept {
  std::uint32_t unit = 0;
  for (const char c : text) {
    const std::uint32_t digit = c >= '0' && c <= '9'   ? static_cast<std::uint32_t>(c - '0')
                                : c >= 'a' && c <= 'f' ? static_cast<std::uint32_t>(c - 'a' + 10)
                                : c >= 'A' && c <= 'F' ? static_cast<std::uint32_t>(c - 'A' + 10)
                                                       : 0;
    unit = unit << 4 | digit;
  }
  return unit;
}

void append_utf8(std::string& out, std::uint32_t point) {
  const auto tail = [&](unsigned shift) { out.push_back(static_cast<char>(0x80 | (point >> shift & 0x3F))); };
  if (point < 0x80) {
    out.push_back(static_cast<char>(point));
  } else if (point < 0x800) {
    out.push_back(static_cast<char>(0xC0 | point >> 6));
    tail(0);
  } else if (point < 0x10000) {
    out.push_back(static_cast<char>(0xE0 | point >> 12));
    tail(6);
    tail(0);
  } else {
    out.push_back(static_cast<char>(0xF0 | point >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

char plain_escape(char c) noexcept {
  switch (c) {
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return c;
  }
}

}  // namespace

bool JsonTape::take_string(std::size_t& at) {
  Token token;
  token.kind = '"';
  token.begin = static_cast<std::uint32_t>(++at);
  for (;; ++at) {
    if (at >= text_.size()) return false;
    if (text_[at] == '"') break;
    if (text_[at] != '\\') continue;
    token.escaped = true;
    ++at;
  }
  token.end = static_cast<std::uint32_t>(at++);
  token.next = static_cast<std::uint32_t>(tokens_.size() + 1);
  tokens_.push_back(token);
  return true;
}

bool JsonTape::take_word(std::size_t& at) {
  Token token;
  token.kind = text_[at];
  token.begin = static_cast<std::uint32_t>(at);
  while (at < text_.size() && text_[at] != ',' && text_[at] != '}' && text_[at] != ']' && !is_space(text_[at])) ++at;
  token.end = static_cast<std::uint32_t>(at);
  token.next = static_cast<std::uint32_t>(tokens_.size() + 1);
  tokens_.push_back(token);
  return token.end > token.begin;
}

bool JsonTape::build(std::string_view text) {
  text_ = text;
  tokens_.clear();
  open_.clear();
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"') {
      if (!take_string(at)) return false;
    } else if (c == '{' || c == '[') {
      open_.push_back(static_cast<std::uint32_t>(tokens_.size()));
      tokens_.push_back({static_cast<std::uint32_t>(at), 0, 0, c, false});
      ++at;
    } else if (c == '}' || c == ']') {
      if (open_.empty() || tokens_[open_.back()].kind != (c == '}' ? '{' : '[')) return false;
      Token& closed = tokens_[open_.back()];
      open_.pop_back();
      closed.end = static_cast<std::uint32_t>(++at);
      closed.next = static_cast<std::uint32_t>(tokens_.size());
    } else if (c == ',' || c == ':' || is_space(c)) {
      ++at;
    } else if (!take_word(at)) {
      return false;
    }
  }
  return open_.empty() && !tokens_.empty() && tokens_.front().next == tokens_.size();
}

void JsonTape::trim() {
  if (tokens_.capacity() > kKeptTokens) std::vector<Token>().swap(tokens_);
}

void append_unescaped(std::string& out, std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 >= text.size()) {
      out.push_back(text[i]);
      continue;
    }
    if (text[++i] != 'u') {
      out.push_back(plain_escape(text[i]));
      continue;
    }
    std::uint32_t point = hex_unit(text.substr(i + 1, 4));
    i += 4;
    if (point >= 0xD800 && point < 0xDC00 && text.substr(i < text.size() ? i + 1 : text.size(), 2) == "\\u") {
      point = 0x10000 + ((point - 0xD800) << 10) + ((hex_unit(text.substr(i + 3, 4)) - 0xDC00) & 0x3FF);
      i += 6;
    }
    append_utf8(out, point);
  }
}

}  // namespace backplane::schema
