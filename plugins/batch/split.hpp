// Splits texts.
//
// Thread-safety: a pure function.
// Lifetime:      the parts are views of the text.
#pragma once

#include <string_view>
#include <vector>

namespace backplane::batch {

// Returns the parts between the separators; the whole text if there is no separator.
inline std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> out;
  for (;;) {
    const std::size_t end = text.find(at);
    out.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + 1);
  }
}

}  // namespace backplane::batch
