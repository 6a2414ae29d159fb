// Plugins that flags need: startup fails if such a plugin does not run, because the server would ignore the flag.
//
// Thread-safety: pure function.
#pragma once

#include <map>
#include <string>

#include "app/flag_set.hpp"

namespace backplane {

// The name of each plugin that reads one of the flags that are set → the first of these flags.
std::map<std::string, std::string> plugins_of_flags(const FlagSet& flags);

}  // namespace backplane
