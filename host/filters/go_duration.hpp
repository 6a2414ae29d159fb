// Durations in Go's syntax ("1m0s", "1.5h", "300ms"), as in ?timeout= and on the command line.
//
// Thread-safety: pure functions.
// Errors:        kBadRequest with the message of Go's time.ParseDuration.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "backplane/core/status.hpp"

namespace backplane {

Result<std::chrono::nanoseconds> parse_go_duration(std::string_view text);
// Formats like Go's time.Duration.String(): "0s", "1m0s", "1.5s", "300ms".
std::string format_go_duration(std::chrono::nanoseconds duration);

}  // namespace backplane
