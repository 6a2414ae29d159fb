#include <cctype>

#include "config/claim_expressions.hpp"

namespace backplane::authentication {
namespace {

// The tokens of a CEL expression, as far as selections need them: identifiers, and everything else one character at a time. Comments are
// skipped; a string or bytes literal is one token that equals no identifier.
class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) {}

  // Returns the next token; empty at the end.
  std::string_view next() {
    skip_blanks();
    if (at_ >= text_.size()) return {};
    const std::size_t begin = at_;
    const char first = text_[at_];
    if (first == '"' || first == '\'') return literal(begin, false);
    if (first == '`') return escaped_identifier();
    if (!is_word(first)) return text_.substr(at_++, 1);
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    const bool quote = at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'');
    if (quote && word.find_first_not_of("rRbB") == std::string_view::npos && word.size() <= 2)
      return literal(begin, word.find_first_of("rR") != std::string_view::npos);
    return word;
  }

 private:
  static bool is_word(char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; }

  void skip_blanks() {
    for (;;) {
      while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
      if (text_.substr(at_, 2) != "//") return;
      at_ = std::min(text_.find('\n', at_), text_.size());
    }
  }

  // Reads a literal. `at_` is the position of its opening quote.
  std::string_view literal(std::size_t begin, bool raw) {
    const std::string three(3, text_[at_]);
    const std::string_view quote = text_.substr(at_, 3) == three ? std::string_view(three) : std::string_view(three).substr(0, 1);
    for (at_ += quote.size(); at_ < text_.size(); ++at_) {
      if (text_[at_] == '\\' && !raw) {
        ++at_;
      } else if (text_.substr(at_, quote.size()) == quote) {
        at_ += quote.size();
        break;
      }
    }
    at_ = std::min(at_, text_.size());
    return text_.substr(begin, at_ - begin);
  }

  std::string_view escaped_identifier() {
    const std::size_t end = std::min(text_.find('`', at_ + 1), text_.size());
    const std::string_view name = text_.substr(at_ + 1, end - at_ - 1);
    at_ = std::min(end + 1, text_.size());
    return name.empty() ? std::string_view("`") : name;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

bool selects_claim(std::string_view expression, std::string_view field) {
  Tokens tokens(expression);
  // `claims` is the variable unless it is itself a member of an operand: a.claims, a.?claims, a().claims. A leading dot is allowed.
  enum class Seen : unsigned char { kNothing, kVariable, kDot };
  Seen seen = Seen::kNothing;
  bool operand_before = false, member = false;
  for (std::string_view token = tokens.next(); !token.empty(); token = tokens.next()) {
    if (seen == Seen::kDot && token == field) return true;
    if (seen == Seen::kVariable && token == ".") {
      seen = Seen::kDot;
    } else if (seen == Seen::kDot && token == "?") {
      // `claims.?field` is the optional selection of the same field.
    } else if (seen == Seen::kVariable && token == ")") {
      // (claims).field is the same selection.
    } else {
      seen = token == "claims" && !member ? Seen::kVariable : Seen::kNothing;
    }
    if (token == ".") {
      member = operand_before;
    } else if (token != "?" || !member) {
      member = false;
    }
    operand_before = token != "." && token != "?" &&
                     (token == ")" || token == "]" || token == "}" || token.size() > 1 ||
                      std::isalnum(static_cast<unsigned char>(token[0])) != 0 || token == "_");
  }
  return false;
}

}  // namespace backplane::authentication
