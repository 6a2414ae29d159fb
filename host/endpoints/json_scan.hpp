// Finds members in the text of canonical JSON, without parsing it into a tree.
//
// Thread-safety: pure functions. Results are views of the argument.
#pragma once

#include <string_view>

namespace backplane::endpoints {

// Returns the text of a member of the outermost object; empty if there is no such member. `json` must be valid compact JSON that this
// server has written.
std::string_view raw_member(std::string_view json, std::string_view key) noexcept;
// Returns the contents of a string member. The result is empty if the value is not a string or has escapes.
std::string_view raw_text(std::string_view json, std::string_view key) noexcept;

}  // namespace backplane::endpoints
