#include "endpoints/json_scan.hpp"

#include <cstddef>

namespace backplane::endpoints {
namespace {

// Returns the index after the closing quote of the string that begins at `at`.
std::size_t skip_string(std::string_view json, std::size_t at) noexcept {
  for (++at; at < json.size(); ++at) {
    if (json[at] == '\\') {
      ++at;
    } else if (json[at] == '"') {
      return at + 1;
    }
  }
  return json.size();
}

// Returns the index after the value that begins at `at`.
std::size_t skip_value(std::string_view json, std::size_t at) noexcept {
  int depth = 0;
  while (at < json.size()) {
    const char letter = json[at];
    if (letter == '"') {
      at = skip_string(json, at);
      if (depth == 0) return at;
      continue;
    }
    if (letter == '{' || letter == '[') {
      ++depth;
    } else if (letter == '}' || letter == ']') {
      if (depth == 0) return at;
      if (--depth == 0) return at + 1;
    } else if (letter == ',' && depth == 0) {
      return at;
    }
    ++at;
  }
  return at;
}

}  // namespace

std::string_view raw_member(std::string_view json, std::string_view key) noexcept {
  if (json.empty() || json.front() != '{') return {};
  std::size_t at = 1;
  while (at < json.size() && json[at] == '"') {
    const std::size_t key_end = skip_string(json, at);
    const std::string_view found = json.substr(at + 1, key_end - at - 2);
    const std::size_t begin = key_end + 1;
    if (begin >= json.size()) return {};
    const std::size_t end = skip_value(json, begin);
    if (found == key) return json.substr(begin, end - begin);
    at = end + 1;
  }
  return {};
}

std::string_view raw_text(std::string_view json, std::string_view key) noexcept {
  const std::string_view value = raw_member(json, key);
  if (value.size() < 2 || value.front() != '"' || value.find('\\') != std::string_view::npos) return {};
  return value.substr(1, value.size() - 2);
}

}  // namespace backplane::endpoints
