// How many seats a list needs, at least one: one for each 100 kB that it holds in memory at once, as SizeBasedListCostEstimate has it, or
// one for each hundred objects that it reads.
//
// Thread-safety: pure functions; StoredCounts are immutable once shared.
// Errors:        a query that cannot be parsed takes the most seats: the request will fail, and must not run earlier because of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "backplane/core/request.hpp"

namespace backplane::flowcontrol {

struct StoredSize {
  std::uint64_t objects = 0;
  std::uint64_t bytes = 0;  // of all of them
  bool operator==(const StoredSize&) const = default;
};
// Of resources by "resource.group", of the legacy group by "resource".
using StoredCounts = std::unordered_map<std::string, StoredSize>;
std::string stored_key(std::string_view group, std::string_view resource);

enum class ListCost : unsigned char { kBytes, kObjects };

// `most`: seats that one request of the level may have; 0: no limit of the level.
// Of a list, or of a watch, which begins with one unless it has a resourceVersion.
std::uint32_t list_width(const RequestInfo& info, const StoredCounts& stored, std::uint32_t most, ListCost cost);

}  // namespace backplane::flowcontrol
