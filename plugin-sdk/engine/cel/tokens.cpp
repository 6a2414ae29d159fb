#include "cel/tokens.hpp"

#include <algorithm>
#include <array>

namespace backplane::cel_detail {
namespace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
constexpr bool is_octal(char c) { return c >= '0' && c <= '7'; }
constexpr bool is_word_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
constexpr bool is_word(char c) { return is_word_start(c) || is_digit(c); }
constexpr bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f'; }

// The end of a token; if the token is incomplete, the position of the first wrong character.
struct End {
  bool found = false;
  std::size_t at = 0;
};

class Scanner {
 public:
  Scanner(std::string_view source, Problems& problems) : source_(source), problems_(problems) {}

  std::vector<Token> scan() {
    while (true) {
      skip_blanks();
      if (at_ == source_.size()) break;
      if (!word() && !number() && !quoted_text(TokenKind::kString, at_) && !escaped() && !sign()) refuse(at_);
    }
    tokens_.push_back({TokenKind::kEnd, {}, at_});
    return std::move(tokens_);
  }

 private:
  char peek(std::size_t index) const { return index < source_.size() ? source_[index] : '\0'; }

  void skip_blanks() {
    while (at_ < source_.size()) {
      if (is_blank(source_[at_])) {
        ++at_;
      } else if (source_.substr(at_, 2) == "//") {
        at_ = std::min(source_.find('\n', at_), source_.size());
      } else {
        return;
      }
    }
  }

  void take(TokenKind kind, std::size_t end) {
    tokens_.push_back({kind, source_.substr(at_, end - at_), at_});
    at_ = end;
  }

  // Reports that the text up to the character at `broken` is not a token.
  void refuse(std::size_t broken) {
    std::size_t end = std::min(broken + 1, source_.size());
    while (end < source_.size() && (static_cast<unsigned char>(source_[end]) & 0xC0) == 0x80) ++end;
    problems_.add(at_, "Syntax error: token recognition error at: '" + std::string(source_.substr(at_, end - at_)) + "'");
    at_ = end;
  }

  bool word() {
    if (!is_word_start(source_[at_])) return false;
    if (prefixed_text()) return true;
    std::size_t end = at_;
    while (is_word(peek(end))) ++end;
    const std::string_view text = source_.substr(at_, end - at_);
    const bool constant = text == "true" || text == "false" || text == "null";
    take(constant ? TokenKind::kConstant : text == "in" ? TokenKind::kSign : TokenKind::kIdentifier, end);
    return true;
  }

  // Reads r"…", b"…" and br"…"; reads a name if no quote follows.
  bool prefixed_text() {
    std::size_t quote = at_;
    const bool bytes = peek(quote) == 'b' || peek(quote) == 'B';
    if (bytes) ++quote;
    const bool raw = peek(quote) == 'r' || peek(quote) == 'R';
    if (raw) ++quote;
    if (quote == at_) return false;
    const End end = text_end(quote, raw);
    if (end.found) take(bytes ? TokenKind::kBytes : TokenKind::kString, end.at);
    return end.found;
  }

  bool quoted_text(TokenKind kind, std::size_t quote) {
    if (source_[quote] != '"' && source_[quote] != '\'') return false;
    const End end = text_end(quote, false);
    if (end.found) {
      take(kind, end.at);
    } else {
      refuse(end.at);
    }
    return true;
  }

  // The end of the text that starts with the quote at `quote`.
  End text_end(std::size_t quote, bool raw) const {
    const char mark = peek(quote);
    if (mark != '"' && mark != '\'') return {false, quote};
    const std::string triple(3, mark);
    if (source_.substr(quote, 3) == triple) {
      const End end = body_end(quote + 3, triple, raw, true);
      if (end.found) return end;
    }
    return body_end(quote + 1, std::string_view(triple).substr(0, 1), raw, false);
  }

  End body_end(std::size_t from, std::string_view mark, bool raw, bool lines) const {
    for (std::size_t i = from; i < source_.size();) {
      if (source_.substr(i, mark.size()) == mark) return {true, i + mark.size()};
      if (!lines && (source_[i] == '\n' || source_[i] == '\r')) return {false, i};
      if (raw || source_[i] != '\\') {
        ++i;
        continue;
      }
      const End escape = escape_end(i + 1);
      if (!escape.found) return escape;
      i = escape.at;
    }
    return {false, source_.size()};
  }

  // The end of an escape after its backslash.
  End escape_end(std::size_t i) const {
    const char c = peek(i);
    if (i < source_.size() && std::string_view("abfnrtv\"'\\?`").find(c) != std::string_view::npos) return {true, i + 1};
    if (c == 'x' || c == 'X') return digits_end(i + 1, 2, is_hex);
    if (c == 'u') return digits_end(i + 1, 4, is_hex);
    if (c == 'U') return digits_end(i + 1, 8, is_hex);
    return c >= '0' && c <= '3' ? digits_end(i + 1, 2, is_octal) : End{false, i};
  }

  End digits_end(std::size_t from, std::size_t count, bool (*digit)(char)) const {
    for (std::size_t i = from; i < from + count; ++i) {
      if (!digit(peek(i))) return {false, i};
    }
    return {true, from + count};
  }

  std::size_t run(std::size_t from, bool (*digit)(char)) const {
    while (digit(peek(from))) ++from;
    return from;
  }

  bool number() {
    const bool fraction_only = source_[at_] == '.' && is_digit(peek(at_ + 1));
    if (!is_digit(source_[at_]) && !fraction_only) return false;
    if (source_[at_] == '0' && peek(at_ + 1) == 'x' && is_hex(peek(at_ + 2))) return whole_number(run(at_ + 2, is_hex));
    std::size_t end = run(at_, is_digit);
    bool whole = true;
    if (peek(end) == '.' && is_digit(peek(end + 1))) {
      end = run(end + 1, is_digit);
      whole = false;
    }
    if (peek(end) == 'e' || peek(end) == 'E') {
      const std::size_t digits = end + (peek(end + 1) == '+' || peek(end + 1) == '-' ? 2 : 1);
      if (is_digit(peek(digits))) {
        end = run(digits, is_digit);
        whole = false;
      }
    }
    if (whole) return whole_number(end);
    take(TokenKind::kFloat, end);
    return true;
  }

  bool whole_number(std::size_t end) {
    const bool without_sign = peek(end) == 'u' || peek(end) == 'U';
    take(without_sign ? TokenKind::kUint : TokenKind::kInt, end + (without_sign ? 1 : 0));
    return true;
  }

  bool escaped() {
    if (source_[at_] != '`') return false;
    std::size_t end = at_ + 1;
    while (is_word(peek(end)) || (end < source_.size() && std::string_view(".-/ ").find(source_[end]) != std::string_view::npos)) ++end;
    if (peek(end) == '`' && end > at_ + 1) {
      take(TokenKind::kEscaped, end + 1);
    } else {
      refuse(end);
    }
    return true;
  }

  bool sign() {
    static constexpr std::array<std::string_view, 6> kPairs = {"==", "!=", "<=", ">=", "&&", "||"};
    const std::string_view pair = source_.substr(at_, 2);
    const bool paired = std::find(kPairs.begin(), kPairs.end(), pair) != kPairs.end();
    if (paired || std::string_view("<>[]{}().,-!?:+*/%").find(source_[at_]) != std::string_view::npos) {
      take(TokenKind::kSign, at_ + (paired ? 2 : 1));
      return true;
    }
    // A single '=', '&' or '|' is half of an operator and is refused.
    if (std::string_view("=&|").find(source_[at_]) == std::string_view::npos) return false;
    refuse(at_ + 1);
    return true;
  }

  std::string_view source_;
  Problems& problems_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<Token> tokenize(std::string_view source, Problems& problems) { return Scanner(source, problems).scan(); }

}  // namespace backplane::cel_detail
