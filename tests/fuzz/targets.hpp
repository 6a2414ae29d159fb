// The fuzz targets: functions that parse untrusted bytes.  A target aborts the process if an invariant is violated, for valid and for
// invalid bytes.
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
  std::vector<std::string> seeds;  // valid inputs
};

// All targets, sorted by name.
const std::vector<Target>& targets();

}  // namespace backplane::fuzz
