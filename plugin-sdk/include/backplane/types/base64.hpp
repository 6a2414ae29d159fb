// Bytes in JSON: standard base64 with padding.
//
// Thread-safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

std::string to_base64(std::string_view bytes);
// Nothing when the text is no base64.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace BACKPLANE_API
