// Durations of flags and fields ("1h0m0s", "300ms").
//
// Thread-safety: pure functions.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// Returns the result of Go's time.ParseDuration; negative if `text` has a leading '-'. nullopt if Go returns an error: a missing or unknown
// unit, or a duration beyond the range of int64 nanoseconds.
std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text);

}  // namespace BACKPLANE_API
