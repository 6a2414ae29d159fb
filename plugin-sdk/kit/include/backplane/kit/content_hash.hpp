// SHA-256 of contents. It detects a change of a file without storing its text, and identifies configurations and servers in metrics and
// logs.
//
// Thread-safety: pure functions.
// Errors:        std::bad_alloc.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {
namespace kit BACKPLANE_API {

using ContentDigest = std::array<unsigned char, 32>;
ContentDigest content_digest(std::string_view content);

// "sha256:" and the digest in hexadecimal; empty for an empty text.
std::string content_hash(std::string_view content);

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
