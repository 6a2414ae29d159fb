// Standard base64 with padding, as Go's encoding/json encodes []byte.
//
// Thread-safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// Returns the encoded text, without line breaks.
std::string to_base64(std::string_view bytes);
// Returns the decoded bytes; nullopt if Go's decoder (base64.StdEncoding) would refuse `text`. Padding is required; line breaks are
// ignored.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace BACKPLANE_API
