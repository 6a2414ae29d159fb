// The string formats of custom-resource schemas (go-openapi/strfmt, as upstream configures it).
//
// Thread-safety: pure functions.
#pragma once

#include <string_view>

namespace backplane::schema {

// Whether the format is checked; other formats are only documentation.
bool is_known_format(std::string_view format) noexcept;
// Whether `text` is valid for a known format.
bool matches_format(std::string_view format, std::string_view text);

}  // namespace backplane::schema
