// Label selectors: apimachinery pkg/labels.
#include "backplane/core/selectors.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "backplane/types/names.hpp"

namespace backplane BACKPLANE_API {
namespace {

using Op = LabelSelector::Op;
using LabelRequirement = LabelSelector::Requirement;

enum class Token : unsigned char {
  kError,
  kEnd,
  kClosedPar,
  kComma,
  kDoesNotExist,
  kDoubleEquals,
  kEquals,
  kGreater,
  kIdentifier,
  kIn,
  kLess,
  kNotEquals,
  kNotIn,
  kOpenPar,
};

struct Word {
  std::string_view text;
  Token token;
};
constexpr Word kWords[] = {
    {")", Token::kClosedPar},  {",", Token::kComma},     {"!", Token::kDoesNotExist}, {"==", Token::kDoubleEquals},
    {"=", Token::kEquals},     {">", Token::kGreater},   {"in", Token::kIn},          {"<", Token::kLess},
    {"!=", Token::kNotEquals}, {"notin", Token::kNotIn}, {"(", Token::kOpenPar},
};

std::optional<Token> keyword(std::string_view text) noexcept {
  for (const Word& word : kWords) {
    if (word.text == text) return word.token;
  }
  return std::nullopt;
}

bool is_blank(char letter) noexcept { return letter == ' ' || letter == '\t' || letter == '\r' || letter == '\n'; }
bool is_special(char letter) noexcept { return std::string_view("=!(),><").find(letter) != std::string_view::npos; }

struct Lexeme {
  Token token;
  std::string text;
};

class LabelLexer {
 public:
  explicit LabelLexer(std::string_view text) noexcept : text_(text) {}

  Lexeme next() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    if (at_ == text_.size() || text_[at_] == '\0') return {Token::kEnd, ""};
    return is_special(text_[at_]) ? symbol() : identifier();
  }

 private:
  // Returns the longest symbol that begins here.
  Lexeme symbol() {
    std::string read;
    std::optional<Lexeme> found;
    for (; at_ < text_.size() && is_special(text_[at_]); ++at_) {
      read.push_back(text_[at_]);
      if (auto token = keyword(read)) {
        found = Lexeme{*token, read};
      } else if (found) {
        break;
      }
    }
    if (!found) return {Token::kError, "error expected: keyword found '" + read + "'"};
    return *found;
  }

  Lexeme identifier() {
    const std::size_t first = at_;
    while (at_ < text_.size() && text_[at_] != '\0' && !is_special(text_[at_]) && !is_blank(text_[at_])) ++at_;
    std::string read(text_.substr(first, at_ - first));
    return {keyword(read).value_or(Token::kIdentifier), read};
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

Status invalid_at(std::string_view path, std::string_view value, const Problems& problems) {
  std::string why;
  for (const std::string& problem : problems) why.append(why.empty() ? "" : "; ").append(problem);
  FieldErrors errors;
  errors.invalid(std::string(path), value, why);
  return bad_request(errors.aggregate_message());
}

class LabelParser {
 public:
  explicit LabelParser(std::string_view text) {
    LabelLexer lexer(text);
    do {
      lexemes_.push_back(lexer.next());
    } while (lexemes_.back().token != Token::kEnd);
  }

  Result<std::vector<LabelRequirement>> parse() {
    std::vector<LabelRequirement> out;
    while (true) {
      const Token token = look_value().token;
      if (token == Token::kEnd) return out;
      if (token != Token::kIdentifier && token != Token::kDoesNotExist) {
        return found("expected: !, identifier, or 'end of string'", look_value());
      }
      auto requirement = parse_requirement();
      if (!requirement.ok()) return bad_request("unable to parse requirement: " + requirement.status().message());
      out.push_back(std::move(*requirement));
      const Lexeme after = take_value();
      if (after.token == Token::kEnd) return out;
      if (after.token != Token::kComma) return found("expected: ',' or 'end of string'", after);
      const Lexeme next = look_value();
      if (next.token != Token::kIdentifier && next.token != Token::kDoesNotExist) return found("expected: identifier after ','", next);
    }
  }

 private:
  // Returns the next lexeme where a value is expected; there, `in` and `notin` are ordinary words.
  Lexeme look_value() const {
    Lexeme lexeme = lexemes_[at_];
    if (lexeme.token == Token::kIn || lexeme.token == Token::kNotIn) lexeme.token = Token::kIdentifier;
    return lexeme;
  }
  Lexeme take_value() {
    Lexeme lexeme = look_value();
    advance();
    return lexeme;
  }
  Lexeme take() {
    Lexeme lexeme = lexemes_[at_];
    advance();
    return lexeme;
  }
  void advance() {
    if (at_ + 1 < lexemes_.size()) ++at_;
  }
  static Status found(std::string_view expected, const Lexeme& lexeme) {
    return bad_request("found '" + lexeme.text + "', " + std::string(expected));
  }

  Result<LabelRequirement> parse_requirement() {
    LabelRequirement out;
    bool negated = false;
    Lexeme key = take_value();
    if (key.token == Token::kDoesNotExist) {
      negated = true;
      key = take_value();
    }
    if (key.token != Token::kIdentifier) return found("expected: identifier", key);
    if (auto problems = is_qualified_name(key.text); !problems.empty()) return invalid_at("", key.text, problems);
    out.key = key.text;
    const Token after = look_value().token;
    if (negated || after == Token::kEnd || after == Token::kComma) {
      out.op = negated ? Op::kNotExists : Op::kExists;
      return out;
    }
    if (Status status = parse_operator(out.op); !status.ok()) return status;
    Status status = out.op == Op::kIn || out.op == Op::kNotIn ? parse_list(out.values) : parse_exact(out.values);
    if (!status.ok()) return status;
    std::sort(out.values.begin(), out.values.end());
    out.values.erase(std::unique(out.values.begin(), out.values.end()), out.values.end());
    if (Status problem = check_values(out); !problem.ok()) return problem;
    return out;
  }

  Status parse_operator(Op& op) {
    const Lexeme lexeme = take();
    switch (lexeme.token) {
      case Token::kIn:
        op = Op::kIn;
        return {};
      case Token::kEquals:
      case Token::kDoubleEquals:
        op = Op::kEquals;
        return {};
      case Token::kGreater:
        op = Op::kGreater;
        return {};
      case Token::kLess:
        op = Op::kLess;
        return {};
      case Token::kNotIn:
        op = Op::kNotIn;
        return {};
      case Token::kNotEquals:
        op = Op::kNotEquals;
        return {};
      default:
        return found("expected: in, notin, =, ==, !=, gt, lt", lexeme);
    }
  }

  Status parse_list(std::vector<std::string>& values) {
    const Lexeme open = take_value();
    if (open.token != Token::kOpenPar) return bad_request("found '" + open.text + "' expected: '('");
    const Lexeme first = look_value();
    if (first.token == Token::kClosedPar) {
      advance();
      values.emplace_back();
      return {};
    }
    if (first.token != Token::kIdentifier && first.token != Token::kComma) return found("expected: ',', ')' or identifier", first);
    if (Status status = parse_items(values); !status.ok()) return status;
    if (take_value().token != Token::kClosedPar) return found("expected: ')'", first);
    return {};
  }

  Status parse_items(std::vector<std::string>& values) {
    while (true) {
      const Lexeme lexeme = take_value();
      if (lexeme.token == Token::kIdentifier) {
        values.push_back(lexeme.text);
        const Lexeme next = look_value();
        if (next.token == Token::kClosedPar) return {};
        if (next.token != Token::kComma) return found("expected: ',' or ')'", next);
      } else if (lexeme.token == Token::kComma) {
        if (values.empty()) values.emplace_back();
        const Token next = look_value().token;
        if (next == Token::kClosedPar) {
          values.emplace_back();
          return {};
        }
        if (next == Token::kComma) {
          advance();
          values.emplace_back();
        }
      } else {
        return found("expected: ',', or identifier", lexeme);
      }
    }
  }

  Status parse_exact(std::vector<std::string>& values) {
    const Token next = look_value().token;
    if (next == Token::kEnd || next == Token::kComma) {
      values.emplace_back();
      return {};
    }
    const Lexeme lexeme = take_value();
    if (lexeme.token != Token::kIdentifier) return found("expected: identifier", lexeme);
    values.push_back(lexeme.text);
    return {};
  }

  static Status check_values(const LabelRequirement& requirement) {
    FieldErrors errors;
    for (std::size_t i = 0; i < requirement.values.size(); ++i) {
      const std::string& value = requirement.values[i];
      const std::string path = "values[" + std::to_string(i) + "]";
      if (requirement.op == Op::kGreater || requirement.op == Op::kLess) {
        std::int64_t number = 0;
        const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
        if (error != std::errc() || end != value.data() + value.size()) {
          errors.invalid(path, value, "for 'Gt', 'Lt' operators, the value must be an integer");
        }
      }
      std::string why;
      for (const std::string& problem : is_valid_label_value(value)) why.append(why.empty() ? "" : "; ").append(problem);
      if (!why.empty()) errors.invalid(path + "[" + requirement.key + "]", value, why);
    }
    return errors.empty() ? Status() : bad_request(errors.aggregate_message());
  }

  std::vector<Lexeme> lexemes_;
  std::size_t at_ = 0;
};

std::optional<std::string_view> value_of(const Labels& labels, std::string_view key) noexcept {
  const auto found =
      std::lower_bound(labels.begin(), labels.end(), key, [](const auto& label, std::string_view k) { return label.first < k; });
  return found != labels.end() && found->first == key ? std::optional<std::string_view>(found->second) : std::nullopt;
}

std::optional<std::string_view> value_of(LabelsView labels, std::string_view key) noexcept { return labels.find(key); }

std::optional<std::int64_t> integer(std::string_view text) noexcept {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// `value`: the value of the label that the requirement compares; nullopt if the object has no such label.
bool requirement_matches(const LabelRequirement& requirement, std::optional<std::string_view> value) noexcept {
  const auto listed = [&] { return std::binary_search(requirement.values.begin(), requirement.values.end(), *value); };
  switch (requirement.op) {
    case Op::kEquals:
    case Op::kIn:
      return value && listed();
    case Op::kNotEquals:
    case Op::kNotIn:
      return !value || !listed();
    case Op::kExists:
      return value.has_value();
    case Op::kNotExists:
      return !value.has_value();
    case Op::kGreater:
    case Op::kLess:
      break;
  }
  if (!value || requirement.values.size() != 1) return false;
  const auto have = integer(*value);
  const auto limit = integer(requirement.values.front());
  if (!have || !limit) return false;
  return requirement.op == Op::kGreater ? *have > *limit : *have < *limit;
}

std::string print_requirement(const LabelRequirement& requirement) {
  std::string list;
  for (const std::string& value : requirement.values)
    list.append(list.empty() && &value == &requirement.values.front() ? "" : ",").append(value);
  switch (requirement.op) {
    case Op::kEquals:
      return requirement.key + "=" + list;
    case Op::kNotEquals:
      return requirement.key + "!=" + list;
    case Op::kIn:
      return requirement.key + " in (" + list + ")";
    case Op::kNotIn:
      return requirement.key + " notin (" + list + ")";
    case Op::kExists:
      return requirement.key;
    case Op::kNotExists:
      return "!" + requirement.key;
    case Op::kGreater:
      return requirement.key + ">" + list;
    case Op::kLess:
      return requirement.key + "<" + list;
  }
  return {};
}

}  // namespace

Result<LabelSelector> LabelSelector::parse(std::string_view text) {
  LabelParser parser(text);
  auto requirements = parser.parse();
  if (!requirements.ok()) return std::move(requirements).status();
  LabelSelector out;
  out.requirements_ = std::move(*requirements);
  std::stable_sort(out.requirements_.begin(), out.requirements_.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
  return out;
}

bool LabelSelector::matches(LabelsView labels) const noexcept {
  return std::all_of(requirements_.begin(), requirements_.end(),
                     [&](const Requirement& each) { return requirement_matches(each, value_of(labels, each.key)); });
}

bool LabelSelector::matches(const Labels& labels) const noexcept {
  return std::all_of(requirements_.begin(), requirements_.end(),
                     [&](const Requirement& each) { return requirement_matches(each, value_of(labels, each.key)); });
}

std::string LabelSelector::to_string() const {
  std::string out;
  for (const Requirement& requirement : requirements_) out.append(out.empty() ? "" : ",").append(print_requirement(requirement));
  return out;
}

}  // namespace BACKPLANE_API
