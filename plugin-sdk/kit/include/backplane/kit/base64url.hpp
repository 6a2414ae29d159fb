// Base64 with the URL-safe alphabet and without padding (RFC 4648, section 5), as JSON Web Signatures encode their parts.
//
// Thread-safety: pure functions.
// Errors:        from_base64url() returns nullopt for padding, line breaks and any byte outside the alphabet.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {
namespace kit BACKPLANE_API {

std::string to_base64url(std::string_view bytes);
// Ignores unused bits of the last character, as Go's decoder does.
std::optional<std::string> from_base64url(std::string_view text);

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
