#include "cel/problems.hpp"

#include <algorithm>

namespace backplane::cel_detail {
namespace {

constexpr std::size_t kMostShown = 16'384;  // bytes of a line below a problem
constexpr std::size_t kMostProblems = 100;

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

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

std::string printed_one(std::string_view source, const SourceProblem& problem) {
  if (problem.offset == kNoOffset) return "ERROR: <input>:-1:0: " + problem.text;
  if (source.empty()) return "ERROR: <input>:1:0: " + problem.text;  // the problem has no line
  const std::string_view above = source.substr(0, problem.offset);
  const auto number = 1 + std::count(above.begin(), above.end(), '\n');
  const std::size_t begin = above.rfind('\n') + 1;  // npos + 1: the first line
  const std::string_view line = source.substr(begin, source.find('\n', begin) - begin);
  const std::size_t before = problem.offset - begin;
  const std::string place = std::to_string(number) + ":" + std::to_string(characters_of(source.substr(begin, before)) + 1);
  return "ERROR: <input>:" + place + ": " + problem.text + (line.size() <= kMostShown ? excerpt(line, before) : "");
}

}  // namespace

std::size_t characters_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return !continues_character(c); }));
}

void Problems::add(std::size_t offset, std::string text) {
  if (++count_ <= kMostProblems) kept_.push_back({offset, std::move(text)});
}

std::string Problems::printed(std::string_view source) const {
  std::vector<const SourceProblem*> sorted;
  for (const SourceProblem& each : kept_) sorted.push_back(&each);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const SourceProblem* a, const SourceProblem* b) { return a->offset + 1 < b->offset + 1; });  // kNoOffset first
  std::string out;
  for (const SourceProblem* each : sorted) out += (out.empty() ? "" : "\n") + printed_one(source, *each);
  if (count_ > kMostProblems) out += "\n" + std::to_string(count_ - kMostProblems) + " more errors were truncated";
  return out;
}

}  // namespace backplane::cel_detail
