// Paths below which only the host registers handlers.
//
// Thread-safety: pure functions.
#pragma once

#include <string_view>

#include "backplane/core/status.hpp"

namespace backplane {

// True if `path` is `root`, or begins with `root` and a slash.
bool is_below(std::string_view path, std::string_view root);
// Errors: kBadRequest if `path` is inside one of the roots that the host serves: profiles, log files, log settings, plugins.
Status check_not_reserved(std::string_view path);

}  // namespace backplane
