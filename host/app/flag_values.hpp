// Parsing and printing of flag values by the flag's type.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/flag_set.hpp"

namespace backplane {

// The word that --help shows after the name of a flag.
std::string_view flag_type_word(FlagType type) noexcept;
bool is_list(FlagType type) noexcept;
// The reason why `value` is not a value of `type`; empty if it is one.
std::string flag_value_problem(FlagType type, std::string_view value);

// Parses `value` as Go's strconv.ParseBool does. flag_value_problem() has accepted `value`.
bool to_bool(std::string_view value) noexcept;
std::vector<std::string> split_list(std::string_view value);
// Splits `value` as pflag's stringToString does: it is one pair, whose value may contain commas, or several pairs as CSV.
std::vector<std::string> split_pairs(std::string_view value);

}  // namespace backplane
