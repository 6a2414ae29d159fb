// Small functions on texts: letter case, joined lists.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// Returns `text` with the letters A to Z in lower case. Other bytes, such as those of UTF-8 sequences, are unchanged. Independent of the
// locale.
inline std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& letter : out) letter = static_cast<char>(letter >= 'A' && letter <= 'Z' ? letter + 32 : letter);
  return out;
}

// Returns the parts with `separator` between them; empty for an empty list.
//
//   joined({"get", "list"}, ", ")  // "get, list"
std::string joined(const std::vector<std::string>& parts, std::string_view separator = ",");

}  // namespace BACKPLANE_API
