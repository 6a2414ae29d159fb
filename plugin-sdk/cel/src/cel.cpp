#include "backplane/cel/expressions.hpp"

#include <algorithm>
#include <array>

#include "cel_parser.hpp"

namespace backplane::cel {
namespace {

constexpr std::size_t kMostCharacters = 100'000;
constexpr std::size_t kMostShown = 16'384;  // bytes of a line below a problem
constexpr std::size_t kMostProblems = 100;

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

std::size_t characters_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return !continues_character(c); }));
}

// The line, and below it a mark at the column; wide characters have wide dots.
std::string excerpt(std::string_view line, std::size_t before) {
  std::string shown(line), marks;
  std::replace(shown.begin(), shown.end(), '\t', ' ');
  for (std::size_t i = 0; i < before; ++i) {
    if (!continues_character(line[i])) marks += static_cast<unsigned char>(line[i]) < 0x80 ? "." : "\xEF\xBC\x8E";
  }
  marks += before < line.size() && static_cast<unsigned char>(line[before]) >= 0x80 ? "\xEF\xBC\xBE" : "^";
  return "\n | " + shown + "\n | " + marks;
}

std::string printed(std::string_view source, const SourceProblem& problem) {
  if (source.empty()) return "ERROR: <input>:1:0: " + problem.text;  // there is no line to show
  const std::string_view above = source.substr(0, problem.offset);
  const auto number = 1 + std::count(above.begin(), above.end(), '\n');
  const std::size_t begin = above.rfind('\n') + 1;  // npos + 1: the first line
  const std::string_view line = source.substr(begin, source.find('\n', begin) - begin);
  const std::size_t before = problem.offset - begin;
  const std::string place = std::to_string(number) + ":" + std::to_string(characters_of(source.substr(begin, before)) + 1);
  return "ERROR: <input>:" + place + ": " + problem.text + (line.size() <= kMostShown ? excerpt(line, before) : "");
}

std::string printed(std::string_view source, std::vector<SourceProblem> problems) {
  std::stable_sort(problems.begin(), problems.end(), [](const auto& a, const auto& b) { return a.offset < b.offset; });
  std::string out;
  for (std::size_t i = 0; i < std::min(problems.size(), kMostProblems); ++i) out += (i > 0 ? "\n" : "") + printed(source, problems[i]);
  if (problems.size() > kMostProblems) out += "\n" + std::to_string(problems.size() - kMostProblems) + " more errors were truncated";
  return out;
}

bool is_declared(std::string_view name, const Names& names) {
  static constexpr std::array<std::string_view, 4> kValues = {"object", "oldObject", "request", "namespaceObject"};
  static constexpr std::array<std::string_view, 15> kTypes = {"bool",          "bytes",     "double",     "int",  "list",
                                                              "map",           "null_type", "string",     "type", "uint",
                                                              "optional_type", "google",    "kubernetes", "net",  "dyn"};
  if (std::find(kTypes.begin(), kTypes.end(), name) != kTypes.end()) return true;
  if (!names.only.empty()) return name == names.only;
  if (name == "params") return names.params;
  if (name == "authorizer") return names.authorizer;
  if (name == "variables") return names.variables != nullptr;
  return std::find(kValues.begin(), kValues.end(), name) != kValues.end();
}

std::vector<SourceProblem> undeclared(const std::vector<Reference>& references, const Names& names) {
  std::vector<SourceProblem> out;
  for (const Reference& each : references) {
    if (each.bound) continue;
    if (!is_declared(each.name, names)) {
      out.push_back({each.offset, "undeclared reference to '" + std::string(each.name) + "' (in container '')"});
    } else if (each.name == "variables" && !each.member.empty() && names.variables->count(each.member) == 0) {
      out.push_back({each.member_offset, "undefined field '" + std::string(each.member) + "'"});
    }
  }
  return out;
}

}  // namespace

std::string compile_problems(std::string_view expression, const Names& names) {
  if (const std::size_t size = characters_of(expression); size > kMostCharacters) {
    return "ERROR: <input>:-1:0: expression code point size exceeds limit: size: " + std::to_string(size) + ", limit " +
           std::to_string(kMostCharacters);
  }
  Parsed parsed = parse(expression);
  if (parsed.too_deep) return "ERROR: <input>:-1:0: expression recursion limit exceeded: 250";
  if (!parsed.problems.empty()) return printed(expression, std::move(parsed.problems));
  return printed(expression, undeclared(parsed.references, names));
}

bool is_identifier(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto word = [&](char c) { return letter(c) || (c >= '0' && c <= '9'); };
  if (name.empty() || !letter(name.front()) || !std::all_of(name.begin(), name.end(), word)) return false;
  return !is_reserved(name) && name != "true" && name != "false" && name != "null";
}

}  // namespace backplane::cel
