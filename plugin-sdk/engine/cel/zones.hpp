// Time zones by name, from the machine's zone files (TZif).
//
// Thread-safety: any thread; a zone is read at its first use; some hundred are cached.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace backplane::cel_detail {

// Seconds east of UTC at that time.  "" and "UTC" are UTC.  `error`: "unknown time zone Mars/Olympus".
std::optional<std::int64_t> named_zone_offset(std::string_view name, std::int64_t seconds, std::string& error);

}  // namespace backplane::cel_detail
