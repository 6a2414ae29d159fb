// Durations as flags and fields write them ("1h0m0s", "300ms").
//
// Thread-safety: pure functions.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// What time.ParseDuration makes of the text; nothing when it is none.
std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text);

}  // namespace BACKPLANE_API
