// The grammar is kubectl's (client-go's util/jsonpath), including its oddities: in brackets, quotes contain a path of members, so a dot in
// the quotes separates two members.
#include <algorithm>
#include <charconv>

#include "column_path.hpp"

namespace backplane::apiextensions {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Bytes beyond ASCII count as letters.
bool is_word(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return c == '_' || is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || byte >= 0x80;
}

bool ends_word(char c) { return std::string_view(" \t\r\n.,[]$@{}").find(c) != std::string_view::npos; }

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  std::int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return out;
}

std::optional<double> real_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, std::chars_format::fixed);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return out;
}

// The character that a backslash and `c` mean in a text with these quotes; nullopt: the escape sequence is invalid.
std::optional<char> escaped(char c, char quote) {
  constexpr std::string_view kLetters = "abfnrtv\\";
  constexpr std::string_view kMeant = "\a\b\f\n\r\t\v\\";
  if (c == quote) return c;
  const std::size_t at = kLetters.find(c);
  return at == std::string_view::npos ? std::nullopt : std::optional(kMeant[at]);
}

std::optional<std::string> unquoted(std::string_view inside, char quote) {
  std::string out;
  for (std::size_t i = 0; i < inside.size(); ++i) {
    if (inside[i] == quote) return std::nullopt;
    if (inside[i] != '\\') {
      out += inside[i];
      continue;
    }
    const auto meant = ++i < inside.size() ? escaped(inside[i], quote) : std::nullopt;
    if (!meant) return std::nullopt;
    out += *meant;
  }
  return out;
}

// Reads one of the numbers in "1", "-1", ":", "1:3" or "::2"; the number may be absent.
bool read_part(std::string_view& rest, std::string_view& part) {
  std::size_t end = rest.starts_with('-') ? 1 : 0;
  while (end < rest.size() && is_digit(rest[end])) ++end;
  part = rest.substr(0, end);
  rest.remove_prefix(end);
  return true;
}

std::optional<std::array<PathStep::Bound, 3>> parse_bounds(std::string_view text) {
  std::array<PathStep::Bound, 3> out;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const bool present = i == 0 || text.starts_with(':');
    if (i > 0 && present) text.remove_prefix(1);
    std::string_view part;
    if (present) read_part(text, part);
    if (!part.empty()) {
      out[i].value = whole_number(part);
      if (!out[i].value) return std::nullopt;
    } else if (i == 1 && !present) {
      out[1] = {out[0].value.value_or(0) + 1, true};
    }
  }
  if (!text.empty()) return std::nullopt;
  return out;
}

// A filter, split at its operator; `op` and `right` are empty if there is no operator.
struct Comparison {
  std::string_view left, op, right;
};

Comparison split(std::string_view text) {
  constexpr std::string_view kSigns = "!<>=";
  const std::size_t begin = text.find_first_of(kSigns);
  const std::size_t end = begin == std::string_view::npos ? begin : text.find_first_not_of(kSigns, begin);
  if (begin == 0 || begin == std::string_view::npos) return {text, {}, {}};
  // The operator must have a right side: if there are only signs, the last one is the right side.
  if (end != std::string_view::npos) return {text.substr(0, begin), text.substr(begin, end - begin), text.substr(end)};
  if (text.size() - begin < 2) return {text, {}, {}};
  return {text.substr(0, begin), text.substr(begin, text.size() - begin - 1), text.substr(text.size() - 1)};
}

class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  std::optional<PathSteps> steps() {
    while (!rest_.empty()) {
      if (!step()) return std::nullopt;
    }
    return std::move(steps_);
  }

 private:
  bool step() {
    if (rest_.starts_with("[?(")) return filter();
    if (rest_.starts_with("..")) return recursive();
    const char c = rest_.front();
    if (c == ' ' || c == '@' || c == '$') return skip(1);
    if (c == '[') return bracket();
    if (c == '"' || c == '\'') return quote(c);
    if (c == '.') return skip(1) && field();
    if (c == '+' || c == '-' || is_digit(c)) return number();
    return is_word(c) && word();
  }

  bool skip(std::size_t count) {
    rest_.remove_prefix(count);
    return true;
  }

  PathStep& add(PathStep::Kind kind) {
    steps_.emplace_back().kind = kind;
    return steps_.back();
  }

  bool field() {
    std::string name;
    std::size_t end = 0;
    for (; end < rest_.size() && !ends_word(rest_[end]); ++end) {
      if (rest_[end] == '\\' && end + 1 < rest_.size()) ++end;  // "\." is a dot in the name
      if (rest_[end] != '\\') name += rest_[end];
    }
    const bool all = rest_.substr(0, end) == "*";
    skip(end);
    if (all)
      add(PathStep::Kind::kWildcard);
    else
      add(PathStep::Kind::kField).name = std::move(name);
    return true;
  }

  bool recursive() {
    if (!steps_.empty() && steps_.back().kind == PathStep::Kind::kRecursive) return false;
    skip(2);
    add(PathStep::Kind::kRecursive);
    return rest_.empty() || !is_word(rest_.front()) || field();
  }

  bool number() {
    std::size_t end = 1;
    while (end < rest_.size() && (rest_[end] == '.' || is_digit(rest_[end]))) ++end;
    const std::string_view text = rest_.substr(0, end);
    skip(end);
    if (const auto whole = whole_number(text))
      add(PathStep::Kind::kLiteral).literal = *whole;
    else if (const auto real = real_number(text))
      add(PathStep::Kind::kLiteral).literal = *real;
    else
      return false;
    return true;
  }

  bool word() {
    const auto end = static_cast<std::size_t>(std::find_if(rest_.begin(), rest_.end(), ends_word) - rest_.begin());
    const std::string_view text = rest_.substr(0, end);
    skip(end);
    if (text == "true" || text == "false")
      add(PathStep::Kind::kLiteral).literal = text == "true";
    else
      add(PathStep::Kind::kWord);
    return true;
  }

  bool quote(char mark) {
    std::size_t end = 1;
    while (end < rest_.size() && (rest_[end] != mark || rest_[end - 1] == '\\')) {
      if (rest_[end++] == '\n') return false;
    }
    if (end >= rest_.size()) return false;
    const auto text = unquoted(rest_.substr(1, end - 1), mark);
    skip(end + 1);
    if (!text) return false;
    add(PathStep::Kind::kText).literal = *text;
    return true;
  }

  bool bracket() {
    const std::size_t end = rest_.find_first_of("]\n");
    if (end == std::string_view::npos || rest_[end] == '\n') return false;
    const std::string_view inside = rest_.substr(1, end - 1);
    skip(end + 1);
    if (inside.find(',') != std::string_view::npos) return alternatives(inside);
    return one_bracket(inside);
  }

  bool alternatives(std::string_view inside) {
    std::vector<PathSteps> parts;
    for (bool more = true; more;) {
      const std::size_t comma = inside.find(',');
      more = comma != std::string_view::npos;
      Parser part({});
      if (!part.one_bracket(trimmed(inside.substr(0, comma)))) return false;
      parts.push_back(std::move(part.steps_));
      inside.remove_prefix(more ? comma + 1 : inside.size());
    }
    add(PathStep::Kind::kUnion).parts = std::move(parts);
    return true;
  }

  bool one_bracket(std::string_view inside) {
    const bool quoted = inside.size() >= 2 && inside.front() == '\'' && inside.back() == '\'';
    if (quoted && inside.find('\'', 1) == inside.size() - 1) {
      const std::string path = "." + std::string(inside.substr(1, inside.size() - 2));
      auto members = Parser(path).steps();
      if (!members) return false;
      std::move(members->begin(), members->end(), std::back_inserter(steps_));
      return true;
    }
    const auto bounds = parse_bounds(inside == "*" ? ":" : inside);
    if (!bounds) return false;
    add(PathStep::Kind::kSlice).bounds = *bounds;
    return true;
  }

  // The filter ends at the first closing parenthesis outside of quotes. As upstream, only the first pair of quotes is recognized.
  bool filter() {
    skip(3);
    std::size_t at = 0;
    char mark = 0;
    bool closed = false;
    for (; at < rest_.size(); ++at) {
      const char c = rest_[at];
      if (c == '\n') return false;
      if ((c == '"' || c == '\'') && mark == 0) {
        mark = c;
      } else if (c == '"' || c == '\'') {
        closed = closed || (c == mark && rest_[at - 1] != '\\');
      } else if (c == ')' && (mark != 0) == closed) {
        break;
      }
    }
    if (at + 1 >= rest_.size() || rest_[at + 1] != ']') return false;
    const std::string_view inside = rest_.substr(0, at);
    skip(at + 2);
    const Comparison found = split(inside);
    auto left = Parser(found.left).steps();
    auto right = Parser(found.right).steps();
    if (!left || !right) return false;
    PathStep& step = add(PathStep::Kind::kFilter);
    step.name = found.op;
    step.parts.push_back(std::move(*left));
    step.parts.push_back(std::move(*right));
    return true;
  }

  std::string_view rest_;
  PathSteps steps_;
};

}  // namespace

std::optional<PathSteps> parse_path_steps(std::string_view text) { return Parser(text).steps(); }

}  // namespace backplane::apiextensions
