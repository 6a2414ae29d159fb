// SHA-256 of a file.
//
// Thread-safety: any thread.
#pragma once

#include <optional>
#include <string>

namespace backplane {

// The digest in hexadecimal; nullopt if the file cannot be read.
std::optional<std::string> content_digest(const std::string& path);

}  // namespace backplane
