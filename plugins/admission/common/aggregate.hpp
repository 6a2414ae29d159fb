// The text of several errors (utilerrors.NewAggregate).
//
// Thread-safety: pure functions.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "backplane/core/text.hpp"

namespace backplane::admission {

// Returns one text unchanged, several as "[a, b]" without duplicates, and an empty text for none.
inline std::string aggregate_text(const std::vector<std::string>& texts) {
  if (texts.size() <= 1) return texts.empty() ? std::string() : texts.front();
  std::set<std::string> seen;
  std::vector<std::string> different;
  for (const std::string& text : texts) {
    if (seen.insert(text).second) different.push_back(text);
  }
  return different.size() == 1 ? different.front() : "[" + joined(different, ", ") + "]";
}

}  // namespace backplane::admission
