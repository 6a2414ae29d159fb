// Checks the files that flags name: startup fails if one cannot be read or has other contents than the flag needs.
//
// Thread-safety: main thread, at startup; reads files.
// Errors:        problems that name flag, file and reason.
#pragma once

#include "app/options.hpp"

namespace backplane {

void check_flag_files(const Options& options, Problems& problems);

}  // namespace backplane
