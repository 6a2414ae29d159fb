// Plugins that flags need: startup fails if such a plugin does not run, because the server would ignore the flag.
//
// Thread-safety: pure function.
#pragma once

#include <string>
#include <vector>

#include "app/flag_set.hpp"

namespace backplane {

// The names of the plugins that read one of the flags that are set.
std::vector<std::string> plugins_of_flags(const FlagSet& flags);

}  // namespace backplane
