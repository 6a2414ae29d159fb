#include "schema/go_syntax.hpp"

#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"

namespace backplane::schema {
namespace {

// Walks the text as Go's scanner does, byte by byte.  Runs only on texts that the parser has refused, so speed does not matter.
class Checker {
 public:
  explicit Checker(std::string_view text) noexcept : text_(text) {}

  std::optional<std::string> run() {
    if (!value()) return error_;
    skip_space();
    if (at_ < text_.size()) unexpected("after top-level value");
    return error_;
  }

 private:
  enum class Next { kMember, kEnd, kError };

  static bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
  bool done() const noexcept { return at_ >= text_.size(); }
  char peek() const noexcept { return text_[at_]; }
  void skip_space() noexcept {
    while (!done() && (peek() == ' ' || peek() == '\t' || peek() == '\r' || peek() == '\n')) ++at_;
  }
  // Reports the current byte as invalid, or the end of the input.
  bool unexpected(std::string_view context) {
    if (done()) {
      error_ = "unexpected end of JSON input";
    } else {
      error_ = "invalid character " + quoted_char(peek()) + " " + std::string(context);
    }
    return false;
  }
  static std::string quoted_char(char c) {
    if (c == '\'') return "'\\''";
    if (c == '"') return "'\"'";
    // Go prints the byte as a code point.
    const auto byte = static_cast<unsigned char>(c);
    std::string rune;
    if (byte < 0x80) {
      rune.push_back(c);
    } else {
      rune.push_back(static_cast<char>(0xC0 | byte >> 6));
      rune.push_back(static_cast<char>(0x80 | (byte & 0x3F)));
    }
    std::string text = quoted(rune);
    text.front() = text.back() = '\'';
    return text;
  }

  // Containers are read in a loop, so that a hostile text cannot overflow the stack.
  bool value() {
    std::vector<char> open;
    while (true) {
      bool opened = false;
      if (!begin_value(open, opened)) return false;
      if (opened) continue;
      while (true) {
        if (open.empty()) return true;
        const Next next = after_value(open);
        if (next == Next::kError) return false;
        if (next == Next::kMember) break;
        open.pop_back();
      }
    }
  }

  // Reads a scalar, or opens a container; an empty container is read whole.
  bool begin_value(std::vector<char>& open, bool& opened) {
    skip_space();
    if (done()) return unexpected("");
    const char c = peek();
    if (c == '{' || c == '[') {
      ++at_;
      if (open.size() >= kMaxJsonDepth) {
        error_ = "exceeded max depth";
        return false;
      }
      skip_space();
      if (!done() && peek() == (c == '{' ? '}' : ']')) {
        ++at_;
        return true;
      }
      open.push_back(c);
      opened = true;
      return c == '[' || key();
    }
    if (c == '"') return string();
    if (c == '-' || is_digit(c)) return number();
    if (c == 't') return literal("true");
    if (c == 'f') return literal("false");
    if (c == 'n') return literal("null");
    return unexpected("looking for beginning of value");
  }

  Next after_value(const std::vector<char>& open) {
    skip_space();
    const bool object = open.back() == '{';
    if (!done() && peek() == ',') {
      ++at_;
      if (object) return key() ? Next::kMember : Next::kError;
      return Next::kMember;
    }
    if (!done() && peek() == (object ? '}' : ']')) {
      ++at_;
      return Next::kEnd;
    }
    unexpected(object ? "after object key:value pair" : "after array element");
    return Next::kError;
  }

  bool key() {
    skip_space();
    if (done() || peek() != '"') return unexpected("looking for beginning of object key string");
    if (!string()) return false;
    skip_space();
    if (done() || peek() != ':') return unexpected("after object key");
    ++at_;
    return true;
  }

  bool string() {
    for (++at_; !done(); ++at_) {
      if (peek() == '"') return ++at_, true;
      if (static_cast<unsigned char>(peek()) < 0x20) return unexpected("in string literal");
      if (peek() == '\\' && !escape()) return false;
    }
    return unexpected("");
  }
  bool escape() {
    ++at_;
    if (done()) return unexpected("");
    if (peek() != 'u') return std::string_view("bfnrt\\/\"").find(peek()) != std::string_view::npos || unexpected("in string escape code");
    for (int i = 0; i < 4; ++i) {
      ++at_;
      if (done() || std::string_view("0123456789abcdefABCDEF").find(peek()) == std::string_view::npos) {
        return unexpected("in \\u hexadecimal character escape");
      }
    }
    return true;
  }

  bool digits(std::string_view context) {
    if (done() || !is_digit(peek())) return unexpected(context);
    while (!done() && is_digit(peek())) ++at_;
    return true;
  }
  bool number() {
    if (peek() == '-') ++at_;
    if (!done() && peek() == '0') {
      ++at_;
    } else if (!digits("in numeric literal")) {
      return false;
    }
    if (!done() && peek() == '.') {
      ++at_;
      if (!digits("after decimal point in numeric literal")) return false;
    }
    if (!done() && (peek() == 'e' || peek() == 'E')) {
      ++at_;
      if (!done() && (peek() == '+' || peek() == '-')) ++at_;
      return digits("in exponent of numeric literal");
    }
    return true;
  }
  bool literal(std::string_view word) {
    for (std::size_t i = 0; i < word.size(); ++i, ++at_) {
      if (done() || peek() != word[i]) {
        return unexpected("in literal " + std::string(word) + " (expecting '" + word[i] + "')");
      }
    }
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::optional<std::string> error_;
};

}  // namespace

std::optional<std::string> go_syntax_error(std::string_view text) { return Checker(text).run(); }

}  // namespace backplane::schema
