// Parses header field values.
//
// Thread-safety: pure functions.
#pragma once

#include <string_view>

namespace backplane::endpoints {

inline std::string_view trim(std::string_view text) noexcept {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Returns the text before `separator`, and removes it and the separator from `rest`.
inline std::string_view take(std::string_view& rest, char separator) noexcept {
  const auto end = rest.find(separator);
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return part;
}

}  // namespace backplane::endpoints
