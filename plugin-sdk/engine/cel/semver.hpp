// Versions as semver.org 2.0.0 has them, and as upstream's library words what is wrong with one.
//
// Thread-safety: pure functions; texts lie in the arena.
#pragma once

#include "cel/library_values.hpp"

namespace backplane::cel_detail {

// `normalize`: "v1.2" is 1.2.0, leading zeros go.
bool parse_semver(Arena& arena, std::string_view text, bool normalize, SemverVal& out, std::string& error);

}  // namespace backplane::cel_detail
