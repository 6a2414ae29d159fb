// What a startup logs before anything is opened: versions, the machine, the flags.
//
// Thread-safety: one thread, at start-up.
#pragma once

#include "app/options.hpp"

namespace backplane {

// One line each for the versions, for the flags that were given, and for those of them that have no effect; every flag at -v=2.
void log_startup(const Options& options);

}  // namespace backplane
