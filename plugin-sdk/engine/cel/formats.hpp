// Formats by name: what format.dns1123Label() and its like stand for.
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
  std::uint64_t regex_size;  // what a check is taken to cost
  std::vector<std::string> (*problems)(std::string_view text);
};
// Null: there is none of that name.
const FormatRow* find_format(std::string_view name) noexcept;

}  // namespace backplane::cel_detail
