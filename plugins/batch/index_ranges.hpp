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
  std::string problem;     // in upstream's words; empty: the text is good
};
// How many indexes the text names, all of them below `completions` and in rising order.
IndexCount count_indexes(std::string_view text, std::int64_t completions);

// An index that both texts name; fragments that cannot be read are passed over.
std::optional<std::int64_t> common_index(std::string_view completed, std::string_view failed, std::int64_t completions);

}  // namespace backplane::batch
