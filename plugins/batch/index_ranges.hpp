// Lists of indexes of a job's pods, as the job's fields contain them: "1,3-5,7".
//
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace backplane::batch {

struct IndexCount {
  std::int64_t total = 0;  // 0 if there is a problem
  std::string problem;     // upstream's text; empty: valid
};
// Counts the indexes in the text. They must be ascending and below `completions`.
IndexCount count_indexes(std::string_view text, std::int64_t completions);

// Returns an index that both texts contain; nullopt: there is none. Skips invalid parts.
std::optional<std::int64_t> common_index(std::string_view completed, std::string_view failed, std::int64_t completions);

}  // namespace backplane::batch
