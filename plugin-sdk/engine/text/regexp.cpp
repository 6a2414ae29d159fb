#include "text/regexp.hpp"

#include <algorithm>

#include "backplane/types/regexp.hpp"

namespace backplane::schema {
namespace {

// Memory for the program and the matching state; a counted class of many letters needs the most.
constexpr std::int64_t kMaxMemory = std::int64_t{16} << 20;

std::string_view error_text(re2::RE2::ErrorCode code) noexcept {
  switch (code) {
    case re2::RE2::ErrorBadEscape:
      return "invalid escape sequence";
    case re2::RE2::ErrorBadCharClass:
      return "invalid character class";
    case re2::RE2::ErrorBadCharRange:
      return "invalid character class range";
    case re2::RE2::ErrorMissingBracket:
      return "missing closing ]";
    case re2::RE2::ErrorMissingParen:
      return "missing closing )";
    case re2::RE2::ErrorUnexpectedParen:
      return "unexpected )";
    case re2::RE2::ErrorTrailingBackslash:
      return "trailing backslash at end of expression";
    case re2::RE2::ErrorRepeatArgument:
      return "missing argument to repetition operator";
    case re2::RE2::ErrorRepeatSize:
      return "invalid repeat count";
    case re2::RE2::ErrorRepeatOp:
      return "invalid nested repetition operator";
    case re2::RE2::ErrorBadPerlOp:
      return "invalid or unsupported Perl syntax";
    case re2::RE2::ErrorBadUTF8:
      return "invalid UTF-8";
    case re2::RE2::ErrorBadNamedCapture:
      return "invalid named capture";
    case re2::RE2::ErrorPatternTooLarge:
      return "expression too large";
    default:
      return "regexp/syntax: internal error";
  }
}

// Go accepts (?<name>…) as well as (?P<name>…); this version of RE2 does not.
std::string with_named_groups(std::string_view pattern) {
  std::string out;
  bool in_class = false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    out.push_back(c);
    if (c == '\\' && i + 1 < pattern.size()) {
      out.push_back(pattern[++i]);
    } else if (in_class) {
      in_class = c != ']';
    } else if (c == '[') {
      in_class = true;
      // A bracket at the start belongs to the class.
      if (pattern.substr(i + 1, 1) == "^") out.push_back(pattern[++i]);
      if (pattern.substr(i + 1, 1) == "]") out.push_back(pattern[++i]);
    } else if (pattern.substr(i, 3) == "(?<" && pattern.substr(i + 3, 1) != "=" && pattern.substr(i + 3, 1) != "!") {
      out.append("?P");
      ++i;
    }
  }
  return out;
}

// RE2 accepts \C for any byte; Go has no such escape.
bool has_any_byte(std::string_view pattern) {
  for (std::size_t i = 0; i + 1 < pattern.size(); ++i) {
    if (pattern[i] != '\\') continue;
    const char escaped = pattern[++i];
    if (escaped == 'C') return true;
    if (escaped == 'Q') i = std::min(pattern.find("\\E", i), pattern.size());
  }
  return false;
}

}  // namespace

std::unique_ptr<const re2::RE2> compile_regexp(std::string_view pattern, std::string& problem) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kMaxMemory);
  auto compiled = std::make_unique<const re2::RE2>(with_named_groups(pattern), options);
  if (compiled->ok() && has_any_byte(pattern)) {
    problem = "error parsing regexp: invalid escape sequence: `\\C`";
    return nullptr;
  }
  if (compiled->ok()) return compiled;
  problem = "error parsing regexp: " + std::string(error_text(compiled->error_code())) + ": `" + compiled->error_arg() + "`";
  return nullptr;
}

bool finds(const re2::RE2& regexp, std::string_view text) {
  return re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), regexp);
}

}  // namespace backplane::schema

namespace backplane BACKPLANE_API {

std::string regexp_problem(std::string_view pattern) {
  std::string problem;
  schema::compile_regexp(pattern, problem);
  return problem;
}

}  // namespace BACKPLANE_API
