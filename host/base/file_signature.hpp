// A text that changes when a file changes. It is made of results of stat().
//
// Thread-safety: any thread.
// Errors:        none; if stat() fails, the signature is empty.
#pragma once

#include <string>

namespace backplane {

// A text of the inode, the size and the time of the last change.
std::string file_signature(const std::string& path);

}  // namespace backplane
