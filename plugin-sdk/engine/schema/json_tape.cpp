#include "schema/json_tape.hpp"

#include <string>

namespace backplane::schema {
namespace {

constexpr std::size_t kKeptTokens = 16 * 1024;

bool is_space(char c) noexcept { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

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

}  // namespace backplane::schema
