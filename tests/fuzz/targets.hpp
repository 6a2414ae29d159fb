// What takes bytes from strangers, as functions of bytes.  A target ends the process when a promise is broken; whether the bytes were
// good is all the same to it.
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
  std::vector<std::string> seeds;  // inputs that get far, to begin with
};

// Sorted by name.
const std::vector<Target>& targets();

}  // namespace backplane::fuzz
