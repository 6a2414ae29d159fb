// Flags for protection or storage that this server does not have. Startup fails if one is set, because the server would only appear
// protected.
//
// Thread-safety: pure functions.
// Errors:        problems like those of other flag checks; all unsupported flags together are one problem.
#pragma once

#include <string>
#include <vector>

#include "app/options.hpp"

namespace backplane {

// The names that the loaded plugins and the host have registered.
struct Offers {
  std::vector<std::string> authorizers;
  std::vector<std::string> admission;
  std::vector<std::string> storage_backends;
  // Third-party plugins that were found and do not run (quarantined, blocked, disabled, --safe-mode). Their admission plugins are not
  // known, so flags may then name admission plugins that no running plugin has.
  std::vector<std::string> idle_plugins = {};
};

void check_unsupported_flags(const Options& options, const Offers& offers, Problems& problems);

}  // namespace backplane
