// Flags that promise protection or storage.  What is promised and not there yet stops the start: better than a server that looks protected.
//
// Thread-safety: pure functions.
// Errors:        problems in the words of the other checks of flags; all broken promises together are one problem.
#pragma once

#include <string>
#include <vector>

#include "app/options.hpp"

namespace backplane {

// What the loaded plugins and the host can do.
struct Offers {
  std::vector<std::string> authorizers;
  std::vector<std::string> admission;
  std::vector<std::string> storage_backends;
};

// Tells --help which flags end the start.
void mark_unsupported_flags(FlagSet& flags);

void check_unsupported_flags(const Options& options, const Offers& offers, Problems& problems);

}  // namespace backplane
