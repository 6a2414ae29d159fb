// Standard base64 with padding, as Go's encoding/json encodes []byte.
//
// Thread-safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// The encoded text, without line breaks.
std::string to_base64(std::string_view bytes);
// The decoded bytes; nullopt if `text` is not valid base64 for Go's decoder (base64.StdEncoding): padding is required, line ends are
// ignored.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace BACKPLANE_API
