// Detects changes of a file: the result of stat as a text to compare.
//
// Thread-safety: any thread.
// Errors:        none; a file whose stat() fails has an empty signature.
#pragma once

#include <string>

namespace backplane {

// Inode, size and time of the last change.
std::string file_signature(const std::string& path);

}  // namespace backplane
