// Whether Go's regexp package would take a pattern, and in whose words it would refuse it (regexp/syntax).
#include <string>
#include <string_view>

#include "schema_rules.hpp"

namespace backplane::apiextensions {
namespace {

constexpr std::string_view kPrefix = "error parsing regexp: ";
// Letters that may follow a backslash outside of a class.
constexpr std::string_view kEscapes = "aftnrvdDsSwWbBAzCQEpPx01234567";

class Scanner {
 public:
  explicit Scanner(std::string_view pattern) : pattern_(pattern) {}

  std::string problem() {
    while (at_ < pattern_.size()) {
      std::string found = step();
      if (!found.empty()) return std::string(kPrefix) + found;
    }
    if (open_ > 0) return std::string(kPrefix) + "missing closing ): `" + std::string(pattern_) + "`";
    return {};
  }

 private:
  static std::string named(std::string_view what, std::string_view text) { return std::string(what) + ": `" + std::string(text) + "`"; }

  std::string step() {
    switch (pattern_[at_]) {
      case '\\':
        return escape();
      case '[':
        return character_class();
      case '(':
        return group();
      case ')':
        if (open_ == 0) return named("unexpected )", pattern_);
        --open_;
        return operand(1);
      case '|':
        ++at_;
        repeatable_ = false;
        return {};
      case '*':
      case '+':
      case '?':
        return repetition(1);
      case '{':
        return braces();
      default:
        return operand(1);
    }
  }

  std::string operand(std::size_t size) {
    at_ += size;
    repeatable_ = true;
    repeated_ = std::string_view::npos;
    return {};
  }

  std::string repetition(std::size_t size) {
    const std::size_t begin = at_;
    at_ += size;
    if (at_ < pattern_.size() && pattern_[at_] == '?') ++at_;
    const std::string_view text = pattern_.substr(begin, at_ - begin);
    if (repeated_ != std::string_view::npos)
      return named("invalid nested repetition operator", pattern_.substr(repeated_, at_ - repeated_));
    if (!repeatable_) return named("missing argument to repetition operator", text);
    repeated_ = begin;
    return {};
  }

  // "{2,3}" repeats; anything else in braces is text.
  std::string braces() {
    const std::size_t close = pattern_.find('}', at_);
    const std::string_view inside = close == std::string_view::npos ? std::string_view() : pattern_.substr(at_ + 1, close - at_ - 1);
    const bool counts = !inside.empty() && inside.find_first_not_of("0123456789,") == std::string_view::npos && inside.front() != ',';
    if (!counts) return operand(1);
    const std::size_t comma = inside.find(',');
    const std::string low(inside.substr(0, comma));
    const std::string high(comma == std::string_view::npos ? low : std::string(inside.substr(comma + 1)));
    const bool too_big = low.size() > 4 || high.size() > 4 || std::stoi(low) > 1000 || (!high.empty() && std::stoi(high) > 1000);
    if (too_big || (!high.empty() && std::stoi(high) < std::stoi(low))) {
      return named("invalid repeat count", pattern_.substr(at_, close - at_ + 1));
    }
    return repetition(inside.size() + 2);
  }

  std::string escape() {
    if (at_ + 1 >= pattern_.size()) return "trailing backslash at end of expression: ``";
    const char c = pattern_[at_ + 1];
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (letter && (kEscapes.find(c) == std::string_view::npos || (c >= '1' && c <= '9'))) {
      return named("invalid escape sequence", pattern_.substr(at_, 2));
    }
    return operand(2);
  }

  std::string group() {
    const std::string_view rest = pattern_.substr(at_);
    repeatable_ = false;
    repeated_ = std::string_view::npos;
    ++open_;
    if (rest.substr(0, 2) != "(?") {
      ++at_;
      return {};
    }
    const bool named_group =
        rest.substr(0, 4) == "(?P<" || (rest.substr(0, 3) == "(?<" && rest.size() > 3 && rest[3] != '=' && rest[3] != '!');
    if (named_group) {
      const std::size_t close = rest.find('>');
      if (close == std::string_view::npos) return named("invalid named capture", rest);
      at_ += close + 1;
      return {};
    }
    std::size_t end = 2;
    while (end < rest.size() && std::string_view("imsU-").find(rest[end]) != std::string_view::npos) ++end;
    if (end >= rest.size()) return named("missing closing )", pattern_);
    if (rest[end] != ':' && rest[end] != ')') return named("invalid or unsupported Perl syntax", rest.substr(0, end + 1));
    if (rest[end] == ')') --open_;
    at_ += end + 1;
    return {};
  }

  std::string character_class() {
    const std::size_t begin = at_;
    std::size_t i = at_ + 1;
    if (i < pattern_.size() && pattern_[i] == '^') ++i;
    bool first = true;
    while (i < pattern_.size() && (pattern_[i] != ']' || first)) {
      first = false;
      if (pattern_.substr(i, 2) == "[:") {
        const std::size_t close = pattern_.find(":]", i);
        if (close != std::string_view::npos) i = close + 1;
      } else if (pattern_[i] == '\\') {
        ++i;
      } else if (i + 2 < pattern_.size() && pattern_[i + 1] == '-' && pattern_[i + 2] != ']' && pattern_[i + 2] != '\\') {
        if (static_cast<unsigned char>(pattern_[i + 2]) < static_cast<unsigned char>(pattern_[i])) {
          return named("invalid character class range", pattern_.substr(i, 3));
        }
        i += 2;
      }
      ++i;
    }
    if (i >= pattern_.size()) return named("missing closing ]", pattern_.substr(begin));
    return operand(i + 1 - begin);
  }

  std::string_view pattern_;
  std::size_t at_ = 0;
  int open_ = 0;
  bool repeatable_ = false;
  std::size_t repeated_ = std::string_view::npos;  // where the operator before stands
};

}  // namespace

std::string regexp_problem(std::string_view pattern) { return Scanner(pattern).problem(); }

}  // namespace backplane::apiextensions
