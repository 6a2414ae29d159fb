// Indexes of a job's pods, as fields write them: "1,3-5,7".
//
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace backplane::batch {

struct IndexCount {
  std::int64_t total = 0;  // 0 where there is a problem
  std::string problem;     // upstream's text; empty: valid
};
// The number of indexes in the text, which must be ascending and below `completions`.
IndexCount count_indexes(std::string_view text, std::int64_t completions);

// An index that both texts name; invalid fragments are skipped.
std::optional<std::int64_t> common_index(std::string_view completed, std::string_view failed, std::int64_t completions);

}  // namespace backplane::batch
