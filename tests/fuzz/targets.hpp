// The parsers of untrusted bytes as functions of bytes.  A target ends the process if an invariant is violated, regardless of whether the
// bytes are valid.
//
// Thread-safety: one thread.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace backplane::fuzz {

struct Target {
  std::string_view name;
  void (*run)(std::string_view bytes);
  std::vector<std::string> seeds;  // seeds: valid inputs
};

// Sorted by name.
const std::vector<Target>& targets();

}  // namespace backplane::fuzz
