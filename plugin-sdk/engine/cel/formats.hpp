// Formats by name: the values of format.dns1123Label() and others.
//
// Thread-safety: a table that never changes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace backplane::cel_detail {

struct FormatRow {
  std::string_view name;
  std::uint64_t regex_size;  // estimated cost of a check
  std::vector<std::string> (*problems)(std::string_view text);
};
// Null if the name is unknown.
const FormatRow* find_format(std::string_view name) noexcept;

}  // namespace backplane::cel_detail
