// Parsing and printing of flag values by the flag's type.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/flag_set.hpp"

namespace backplane {

// The word that --help shows after the name.
std::string_view flag_type_word(FlagType type) noexcept;
bool is_list(FlagType type) noexcept;
// The reason why `value` is not of `type`, worded as Go's parsers word it; empty: it is of that type.
std::string flag_value_problem(FlagType type, std::string_view value);

// strconv.ParseBool; the value has been checked.
bool to_bool(std::string_view value) noexcept;
std::vector<std::string> split_list(std::string_view value);
// pflag's stringToString: one pair whose value may hold commas, or several as CSV.
std::vector<std::string> split_pairs(std::string_view value);

}  // namespace backplane
