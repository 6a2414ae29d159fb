// Versions by semver.org 2.0.0, with the error texts of upstream's library.
//
// Thread-safety: pure functions; texts lie in the arena.
#pragma once

#include "cel/library_values.hpp"

namespace backplane::cel_detail {

// `normalize`: "v1.2" is 1.2.0, leading zeros are removed.
bool parse_semver(Arena& arena, std::string_view text, bool normalize, SemverVal& out, std::string& error);

}  // namespace backplane::cel_detail
