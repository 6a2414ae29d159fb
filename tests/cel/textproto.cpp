#include "textproto.hpp"

#include <cstdint>
#include <stdexcept>

namespace backplane::textproto {
namespace {

void append_utf8(std::string& out, std::uint32_t code) {
  if (code < 0x80) {
    out.push_back(static_cast<char>(code));
  } else if (code < 0x800) {
    out.push_back(static_cast<char>(0xC0 | code >> 6));
    out.push_back(static_cast<char>(0x80 | (code & 0x3F)));
  } else if (code < 0x10000) {
    out.push_back(static_cast<char>(0xE0 | code >> 12));
    out.push_back(static_cast<char>(0x80 | (code >> 6 & 0x3F)));
    out.push_back(static_cast<char>(0x80 | (code & 0x3F)));
  } else {
    out.push_back(static_cast<char>(0xF0 | code >> 18));
    out.push_back(static_cast<char>(0x80 | (code >> 12 & 0x3F)));
    out.push_back(static_cast<char>(0x80 | (code >> 6 & 0x3F)));
    out.push_back(static_cast<char>(0x80 | (code & 0x3F)));
  }
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Field document() {
    Field out;
    out.is_message = true;
    for (skip(); at_ < text_.size(); skip()) field(out);
    return out;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(what + " at byte " + std::to_string(at_) + ": " + std::string(text_.substr(at_, 40)));
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) {
    skip();
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  // White space and comments.
  void skip() {
    for (; at_ < text_.size(); ++at_) {
      if (peek() == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size() - 1);
      } else if (std::string_view(" \t\r\n").find(peek()) == std::string_view::npos) {
        return;
      }
    }
  }

  std::string name() {
    skip();
    const std::size_t begin = at_;
    if (peek() == '[') {
      at_ = text_.find(']', at_) + 1;
    } else {
      while (std::isalnum(static_cast<unsigned char>(peek())) || peek() == '_') ++at_;
    }
    if (at_ == begin || at_ == 0) fail("a name is wanted");
    return std::string(text_.substr(begin, at_ - begin));
  }

  void field(Field& parent) {
    const std::string called = name();
    take(':');
    if (take('[')) {
      while (!take(']')) {
        parent.fields.push_back(value(called));
        take(',');
      }
    } else {
      parent.fields.push_back(value(called));
    }
    while (take(',') || take(';')) {
    }
  }

  Field value(const std::string& called) {
    Field out;
    out.name = called;
    skip();
    if (take('{')) {
      out.is_message = true;
      while (!take('}')) field(out);
    } else if (peek() == '"' || peek() == '\'') {
      for (; peek() == '"' || peek() == '\''; skip()) string(out.scalar);
    } else {
      const std::size_t begin = at_;
      while (at_ < text_.size() && std::string_view(" \t\r\n,;]}#").find(peek()) == std::string_view::npos) ++at_;
      if (at_ == begin) fail("a value is wanted");
      out.scalar = text_.substr(begin, at_ - begin);
    }
    return out;
  }

  std::uint32_t digits(unsigned base, std::size_t most) {
    std::uint32_t out = 0;
    for (std::size_t i = 0; i < most; ++i) {
      const char c = peek();
      const unsigned digit = c >= '0' && c <= '9'   ? unsigned(c - '0')
                             : c >= 'a' && c <= 'f' ? unsigned(c - 'a' + 10)
                             : c >= 'A' && c <= 'F' ? unsigned(c - 'A' + 10)
                                                    : 99;
      if (digit >= base) break;
      out = out * base + digit;
      ++at_;
    }
    return out;
  }

  void string(std::string& out) {
    const char quote = text_[at_++];
    while (peek() != quote) {
      if (at_ >= text_.size()) fail("a string does not end");
      if (peek() != '\\') {
        out.push_back(text_[at_++]);
        continue;
      }
      ++at_;
      constexpr std::string_view kLetters = "abfnrtv\\'\"?", kMeant = "\a\b\f\n\r\t\v\\'\"?";
      const char c = peek();
      if (const std::size_t known = kLetters.find(c); known != std::string_view::npos) {
        out.push_back(kMeant[known]);
        ++at_;
      } else if (c == 'x' || c == 'X') {
        ++at_;
        out.push_back(static_cast<char>(digits(16, 2)));
      } else if (c == 'u' || c == 'U') {
        ++at_;
        append_utf8(out, digits(16, c == 'u' ? 4 : 8));
      } else {
        out.push_back(static_cast<char>(digits(8, 3)));
      }
    }
    ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Field parse(std::string_view text) { return Parser(text).document(); }

}  // namespace backplane::textproto
