// A text of the results of stat(), which changes when the file changes.
//
// Thread-safety: any thread.
// Errors:        none; a file whose stat() fails has an empty signature.
#pragma once

#include <string>

namespace backplane {

// Inode, size and time of the last change.
std::string file_signature(const std::string& path);

}  // namespace backplane
