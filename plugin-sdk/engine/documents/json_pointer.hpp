// Positions in the text of a JSON document: pointers and their lines.
//
// Thread-safety: pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/json.hpp"

namespace backplane::documents {

using Pointer = std::vector<std::string>;

std::string to_string(const Pointer& pointer);
// Selects a member if the object has several members of the name that the pointer ends with.
enum class Occurrence : unsigned char { kFirst, kLast };
// The line on which the value at `pointer` begins: of a member, the line of its key.  A missing value has the line of its holder.
std::size_t line_of(std::string_view text, const Pointer& pointer, Occurrence occurrence = Occurrence::kFirst);
std::size_t line_at(std::string_view text, std::size_t offset);
// The pointer of a dotted path in `root`: "kinds[0].columns[1].path"; member names may contain dots.  Ends at the last existing value.
Pointer pointer_of(const Value& root, std::string_view dotted);

}  // namespace backplane::documents
