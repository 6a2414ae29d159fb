// Plugins that flags need: startup fails if such a plugin does not run, because the server would ignore the flag.
//
// Thread-safety: pure function.
#pragma once

#include <map>
#include <string>

#include "app/flag_set.hpp"

namespace backplane {

// A map from each plugin that reads a flag with a value other than its default, to the first such flag.
std::map<std::string, std::string> plugins_of_flags(const FlagSet& flags);

}  // namespace backplane
