// Which files cmake's build of a folder reads.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>

namespace backplane {

// True if a dependency file of the build in `directory` names a file or folder whose name is `name` or begins with `name`.
// Also true if the build has no dependency files of Ninja or Make yet, or if it looks for new files (file(GLOB … CONFIGURE_DEPENDS)).
bool is_build_input(const std::string& directory, std::string_view name);

}  // namespace backplane
