// Members of canonical JSON found in the bytes, without a tree.
//
// Thread-safety: pure functions; results are windows into the argument.
#pragma once

#include <string_view>

namespace backplane::endpoints {

// The printed value of a member of the outermost object; empty when absent.  `json` is compact and valid: this server wrote it.
std::string_view raw_member(std::string_view json, std::string_view key) noexcept;
// The same for a string without escapes, unquoted; empty for any other value.
std::string_view raw_text(std::string_view json, std::string_view key) noexcept;

}  // namespace backplane::endpoints
