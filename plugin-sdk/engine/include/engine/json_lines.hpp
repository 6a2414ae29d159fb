// Lines of a JSON text, for messages about the text.
//
// Thread-safety: pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// A member whose name occurs earlier in the same object.
struct DuplicateMember {
  std::string path;      // "requires[1].name"
  std::size_t line = 1;  // the line of the last occurrence
};
// The duplicate members in the order of the text; empty if the text is not JSON.
std::vector<DuplicateMember> duplicate_members(std::string_view text);
// The line of the value at a dotted path in `root`, the tree of `text`. The line of a member is that of its name; a missing value has the
// line of the object or list that would contain it.
std::size_t line_in_json(std::string_view text, const Value& root, std::string_view path);
// The line at which the text stops being JSON.
std::size_t line_of_json_error(std::string_view text);

}  // namespace BACKPLANE_API
