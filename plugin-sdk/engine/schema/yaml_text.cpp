#include "schema/yaml_text.hpp"

#include <charconv>
#include <cmath>
#include <cwctype>

#include "schema/yaml_scalar.hpp"
#include "text/utf8.hpp"

namespace backplane::schema {
namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kMaxSimpleKey = 128;

bool is_break(char32_t c) noexcept { return c == '\n' || c == '\r' || c == 0x85 || c == 0x2028 || c == 0x2029; }
bool is_printable(char32_t c) noexcept {
  return c == '\n' || (c >= 0x20 && c <= 0x7E) || (c >= 0xA0 && c < 0xD800) || (c >= 0xE000 && c <= 0xFFFD && c != 0xFEFF);
}
bool is_blank(char32_t c) noexcept { return c == ' ' || c == '\t'; }

// The properties of a text by which libyaml's emitter chooses a style.
struct Shape {
  bool plain = true;
  bool single_quoted = true;
  bool block = true;
  bool multiline = false;
};

// Whether a character has a meaning at the beginning of a text, or at any position.
bool is_indicator(char32_t c, bool first, bool after_blank, bool before_blank) noexcept {
  if (first) {
    if (c < 0x80 && std::string_view("#,[]{}&*!|>'\"%@`").find(static_cast<char>(c)) != std::string_view::npos) return true;
    return (c == '?' || c == ':' || c == '-') && before_blank;
  }
  return (c == ':' && before_blank) || (c == '#' && after_blank);
}

Shape analyze(std::string_view text) {
  Shape shape;
  if (text.empty()) {
    shape.block = false;
    return shape;
  }
  bool indicators = text.starts_with("---") || text.starts_with("...");
  bool special = false, break_space = false, space_break = false, after_blank = true, was_space = false, was_break = false;
  const bool edge_space = text.front() == ' ' || text.back() == ' ';
  bool edge_break = false;
  for (std::size_t i = 0; i < text.size();) {
    const Rune rune = decode_rune(text.substr(i));
    const std::size_t next = i + rune.size;
    const bool before_blank =
        next >= text.size() || is_blank(static_cast<unsigned char>(text[next])) || is_break(decode_rune(text.substr(next)).code);
    indicators = indicators || is_indicator(rune.code, i == 0, after_blank, before_blank);
    special = special || !rune.valid || !is_printable(rune.code);
    const bool space = rune.code == ' ', breaks = is_break(rune.code);
    break_space = break_space || (space && was_break);
    space_break = space_break || (breaks && was_space);
    shape.multiline = shape.multiline || breaks;
    edge_break = edge_break || (breaks && (i == 0 || next == text.size()));
    was_space = space;
    was_break = breaks;
    after_blank = is_blank(rune.code) || breaks;
    i = next;
  }
  shape.plain = !edge_space && !edge_break && !break_space && !space_break && !special && !shape.multiline && !indicators;
  shape.single_quoted = !break_space && !space_break && !special;
  shape.block = text.back() != ' ' && !space_break && !special;
  return shape;
}

class Writer {
 public:
  Writer(std::string& out, std::size_t column, int indent, bool key)
      : out_(out), column_(column), indent_(static_cast<std::size_t>(indent)), folds_(!key) {}

  void plain(std::string_view text) {
    bool was_space = false;
    for (std::size_t i = 0; i < text.size();) {
      if (text[i] == ' ' && may_fold(was_space) && !(i + 1 < text.size() && text[i + 1] == ' ')) {
        new_line();
        ++i;
        was_space = true;
        continue;
      }
      was_space = text[i] == ' ';
      copy(text, i);
    }
  }

  void single_quoted(std::string_view text) {
    put('\'');
    bool was_space = false, was_break = false;
    for (std::size_t i = 0; i < text.size();) {
      const bool inner = i > 0 && i + 1 < text.size();
      if (text[i] == ' ' && may_fold(was_space) && inner && text[i + 1] != ' ') {
        new_line();
        ++i;
        was_space = true;
        continue;
      }
      if (text[i] == '\n') {
        if (!was_break) put_break();
        put_break();
        was_break = true;
        ++i;
        continue;
      }
      if (was_break) out_.append(indent_, ' '), column_ = indent_;
      if (text[i] == '\'') put('\'');
      was_space = text[i] == ' ';
      was_break = false;
      copy(text, i);
    }
    put('\'');
  }

  void double_quoted(std::string_view text) {
    put('"');
    bool was_space = false;
    for (std::size_t i = 0; i < text.size();) {
      const Rune rune = decode_rune(text.substr(i));
      const bool inner = i > 0 && i + 1 < text.size();
      if (!is_printable(rune.code) || is_break(rune.code) || rune.code == '"' || rune.code == '\\') {
        escape(rune.code);
        i += rune.size;
        was_space = false;
      } else if (rune.code == ' ' && may_fold(was_space) && inner) {
        new_line();
        if (text[i + 1] == ' ') put('\\');
        ++i;
        was_space = true;
      } else {
        was_space = rune.code == ' ';
        copy(text, i);
      }
    }
    put('"');
  }

  void literal(std::string_view text) {
    put('|');
    if (text.front() == ' ' || text.front() == '\n') put('2');
    if (!text.ends_with('\n'))
      put('-');
    else if (text.size() == 1 || text[text.size() - 2] == '\n')
      put('+');
    put_break();
    bool line_begin = true;
    for (std::size_t i = 0; i < text.size();) {
      if (text[i] == '\n') {
        put_break();
        line_begin = true;
        ++i;
        continue;
      }
      if (line_begin) out_.append(indent_, ' ');
      line_begin = false;
      copy(text, i);
    }
    // The caller appends the line end.
    if (text.ends_with('\n')) out_.pop_back();
  }

 private:
  bool may_fold(bool was_space) const noexcept { return folds_ && !was_space && column_ > kWidth; }
  void put(char c) {
    out_ += c;
    ++column_;
  }
  void put_break() {
    out_ += '\n';
    column_ = 0;
  }
  void new_line() {
    put_break();
    out_.append(indent_, ' ');
    column_ = indent_;
  }
  void copy(std::string_view text, std::size_t& i) {
    const Rune rune = decode_rune(text.substr(i));
    out_.append(rune.valid ? text.substr(i, rune.size) : "\xEF\xBF\xBD");
    i += rune.size;
    ++column_;
  }
  void escape(char32_t code) {
    struct Short {
      char32_t code;
      char letter;
    };
    static constexpr Short kShort[] = {{0, '0'},     {7, 'a'},    {8, 'b'},    {9, 't'},      {10, 'n'},
                                       {11, 'v'},    {12, 'f'},   {13, 'r'},   {27, 'e'},     {'"', '"'},
                                       {'\\', '\\'}, {0x85, 'N'}, {0xA0, '_'}, {0x2028, 'L'}, {0x2029, 'P'}};
    put('\\');
    for (const Short& known : kShort) {
      if (known.code == code) return put(known.letter);
    }
    const int digits = code <= 0xFF ? 2 : code <= 0xFFFF ? 4 : 8;
    put(digits == 2 ? 'x' : digits == 4 ? 'u' : 'U');
    for (int shift = (digits - 1) * 4; shift >= 0; shift -= 4) put("0123456789ABCDEF"[code >> shift & 0xF]);
  }

  std::string& out_;
  std::size_t column_, indent_;
  bool folds_;
};

bool is_digit(char32_t c) noexcept { return c >= '0' && c <= '9'; }
bool is_letter(char32_t c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= 0x80 && std::iswalpha(static_cast<wint_t>(c)));
}

std::u32string runes_of(std::string_view text) {
  std::u32string out;
  while (!text.empty()) {
    const Rune rune = decode_rune(text);
    out.push_back(rune.code);
    text.remove_prefix(rune.size);
  }
  return out;
}

}  // namespace

bool yaml_key_less(std::string_view a_text, std::string_view b_text) {
  const std::u32string a = runes_of(a_text), b = runes_of(b_text);
  std::size_t i = 0;
  while (i < a.size() && i < b.size() && a[i] == b[i]) ++i;
  if (i == a.size() || i == b.size()) return a.size() < b.size();
  const bool a_letter = is_letter(a[i]), b_letter = is_letter(b[i]);
  if (a_letter && b_letter) return a[i] < b[i];
  if (a_letter || b_letter) return b_letter;
  // Numbers compare by value; after a common non-zero prefix, leading zeros count.
  std::uint64_t a_number = 0, b_number = 0;
  if (a[i] == '0' || b[i] == '0') {
    for (std::size_t j = i; j > 0 && is_digit(a[j - 1]); --j) {
      if (a[j - 1] != '0') {
        a_number = b_number = 1;
        break;
      }
    }
  }
  std::size_t a_end = i, b_end = i;
  for (; a_end < a.size() && is_digit(a[a_end]); ++a_end) a_number = a_number * 10 + (a[a_end] - '0');
  for (; b_end < b.size() && is_digit(b[b_end]); ++b_end) b_number = b_number * 10 + (b[b_end] - '0');
  if (a_number != b_number) return a_number < b_number;
  if (a_end != b_end) return a_end < b_end;
  return a[i] < b[i];
}

bool is_simple_key(std::string_view text) { return text.size() <= kMaxSimpleKey && !analyze(text).multiline; }

void append_yaml_text(std::string& out, std::string_view text, std::size_t column, int indent, bool key) {
  const Shape shape = analyze(text);
  Writer writer(out, column, indent, key);
  const bool lines = text.find('\n') != std::string_view::npos;
  if (lines && shape.block && !key) return writer.literal(text);
  if (lines || !is_plain_text(text)) return writer.double_quoted(text);
  if (shape.plain) return writer.plain(text);
  if (shape.single_quoted && !(key && shape.multiline)) return writer.single_quoted(text);
  writer.double_quoted(text);
}

void append_yaml_double(std::string& out, double number) {
  // strconv's 'g' with shortest digits: an exponent below 1e-4 and from 1e21 on, of two digits at least.
  char buffer[64];
  const double size = std::fabs(number);
  const bool scientific = size != 0 && (size < 1e-4 || size >= 1e21);
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, number, scientific ? std::chars_format::scientific : std::chars_format::fixed).ptr;
  out.append(buffer, static_cast<std::size_t>(end - buffer));
}

}  // namespace backplane::schema
