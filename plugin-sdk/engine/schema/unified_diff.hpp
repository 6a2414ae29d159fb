// The difference of two texts in the unified form, by the algorithm of Python's difflib and go-difflib: from the longest common run
// outwards, without frequent lines.  Another algorithm would produce another valid text, but the text must equal upstream's.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <vector>

namespace backplane::schema {

// "@@ -1,3 +1,4 @@\n-old\n+new\n…", three lines of context, no file names; empty if the texts are equal, or if a text has more than
// `kMostDiffLines` lines or needs more than `kMostDiffSteps` comparisons, because both grow faster than linearly.
inline constexpr std::size_t kMostDiffLines = 20'000;
inline constexpr std::size_t kMostDiffSteps = 500'000;
std::string unified_diff(const std::vector<std::string>& before, const std::vector<std::string>& after);

}  // namespace backplane::schema
