// Files that flags name must be there and be what the flag says, or the start ends: a typing error must not pass for a setting.
//
// Thread-safety: reads files; start-up.
// Errors:        problems that name flag, file and reason.
#pragma once

#include "app/options.hpp"

namespace backplane {

void check_flag_files(const Options& options, Problems& problems);

}  // namespace backplane
