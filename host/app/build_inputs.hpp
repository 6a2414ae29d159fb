// Which files cmake's build of a folder reads.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>

namespace backplane {

// Whether the build in `directory` reads a file of this name, or one whose name begins with it.  True if the build has no files of Ninja or
// Make yet, and if it looks for new files (file(GLOB … CONFIGURE_DEPENDS)).
bool is_build_input(const std::string& directory, std::string_view name);

}  // namespace backplane
