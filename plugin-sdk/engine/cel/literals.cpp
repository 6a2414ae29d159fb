#include "cel/literals.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>

namespace backplane::cel_detail {
namespace {

constexpr std::string_view kBroken = "unable to unescape string";

// The text with \n as the only line end.
std::string plain_lines(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r') {
      out.push_back(text[i]);
    } else {
      out.push_back('\n');
      if (i + 1 < text.size() && text[i + 1] == '\n') ++i;
    }
  }
  return out;
}

void append_character(std::string& out, std::uint32_t c) {
  if (c < 0x80) {
    out.push_back(static_cast<char>(c));
  } else if (c < 0x800) {
    out.push_back(static_cast<char>(0xC0 | (c >> 6)));
    out.push_back(static_cast<char>(0x80 | (c & 0x3F)));
  } else if (c < 0x10000) {
    out.push_back(static_cast<char>(0xE0 | (c >> 12)));
    out.push_back(static_cast<char>(0x80 | ((c >> 6) & 0x3F)));
    out.push_back(static_cast<char>(0x80 | (c & 0x3F)));
  } else {
    out.push_back(static_cast<char>(0xF0 | (c >> 18)));
    out.push_back(static_cast<char>(0x80 | ((c >> 12) & 0x3F)));
    out.push_back(static_cast<char>(0x80 | ((c >> 6) & 0x3F)));
    out.push_back(static_cast<char>(0x80 | (c & 0x3F)));
  }
}

// The character of a one-letter escape; 0: not a one-letter escape.
char plain_escape(char c) {
  constexpr std::string_view kFrom = "abfnrtv\\'\"`?", kTo = "\a\b\f\n\r\t\v\\'\"`?";
  const std::size_t at = kFrom.find(c);
  return at == std::string_view::npos ? '\0' : kTo[at];
}

class Unescaper {
 public:
  Unescaper(std::string_view text, bool bytes) : text_(text), bytes_(bytes) {}

  Unquoted run() {
    while (at_ < text_.size() && out_.problem.empty()) {
      if (text_[at_] != '\\') {
        out_.text.push_back(text_[at_++]);
      } else {
        ++at_;
        escape();
      }
    }
    return std::move(out_);
  }

 private:
  void escape() {
    if (at_ >= text_.size()) return fail("unable to unescape string, found '\\' as last character");
    const char c = text_[at_++];
    if (const char plain = plain_escape(c)) {
      out_.text.push_back(plain);
    } else if (c == 'x' || c == 'X') {
      number(2, 16, kBroken);
    } else if ((c == 'u' || c == 'U') && !bytes_) {
      number(c == 'u' ? 4 : 8, 16, kBroken);
    } else if (c >= '0' && c <= '3') {
      --at_;
      number(3, 8, "unable to unescape octal sequence in string");
    } else {
      fail(kBroken);
    }
  }

  void number(std::size_t digits, int base, std::string_view problem) {
    std::uint32_t value = 0;
    const std::string_view text = text_.substr(at_, digits);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (text.size() < digits || error != std::errc() || end != text.data() + digits) return fail(problem);
    at_ += digits;
    if (bytes_) return out_.text.push_back(static_cast<char>(value));
    if (value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) return fail("invalid unicode code point");
    append_character(out_.text, value);
  }

  void fail(std::string_view problem) { out_.problem = problem; }

  std::string_view text_;
  bool bytes_;
  std::size_t at_ = 0;
  Unquoted out_;
};

template <class Number>
bool read_whole(std::string_view text, bool negative, Number& out) {
  const bool hex = text.starts_with("0x");
  const std::string digits = (negative ? "-" : "") + std::string(hex ? text.substr(2) : text);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out, hex ? 16 : 10);
  return error == std::errc() && end == digits.data() + digits.size();
}

}  // namespace

Unquoted unquote(std::string_view token, bool bytes) {
  const bool raw = !token.empty() && (token.front() == 'r' || token.front() == 'R');
  if (raw) token.remove_prefix(1);
  if (token.size() < 2) return {{}, kBroken};
  const std::string triple(3, token.front());
  const std::size_t quotes = token.size() >= 6 && token.starts_with(triple) && token.ends_with(triple) ? 3 : 1;
  const std::string inside = plain_lines(token.substr(quotes, token.size() - 2 * quotes));
  if (raw) return {inside, {}};
  return Unescaper(inside, bytes).run();
}

bool read_int(std::string_view text, bool negative, long long& out) { return read_whole(text, negative, out); }
bool read_uint(std::string_view text, unsigned long long& out) { return read_whole(text, false, out); }

bool read_double(std::string_view text, double& out) {
  out = std::strtod(std::string(text).c_str(), nullptr);
  return std::isfinite(out);
}

Val literal_val(const Literal& literal) {
  switch (literal.kind) {
    case LiteralKind::kNull:
      return null_val();
    case LiteralKind::kBool:
      return bool_val(literal.boolean);
    case LiteralKind::kInt:
      return int_val(literal.integer);
    case LiteralKind::kUint:
      return uint_val(literal.natural);
    case LiteralKind::kDouble:
      return double_val(literal.real);
    case LiteralKind::kString:
      return string_val(literal.text);
    case LiteralKind::kBytes:
      return bytes_val(literal.text);
  }
  return {};
}

const Type* literal_type(LiteralKind kind) {
  switch (kind) {
    case LiteralKind::kNull:
      return &kNullType;
    case LiteralKind::kBool:
      return &kBoolType;
    case LiteralKind::kInt:
      return &kIntType;
    case LiteralKind::kUint:
      return &kUintType;
    case LiteralKind::kDouble:
      return &kDoubleType;
    case LiteralKind::kString:
      return &kStringType;
    case LiteralKind::kBytes:
      return &kBytesType;
  }
  return &kErrorType;
}

}  // namespace backplane::cel_detail
