// How many seats a list needs: one for each hundred objects that it goes through, at least one.
//
// Thread-safety: pure functions; StoredCounts are immutable once shared.
// Errors:        a query that cannot be read takes the most: the request will fail, and its sender shall not be the faster for it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "backplane/request.hpp"

namespace backplane::flowcontrol {

// Of resources by "resource.group", of the legacy group by "resource".
using StoredCounts = std::unordered_map<std::string, std::uint64_t>;
std::string stored_key(std::string_view group, std::string_view resource);

// `most`: seats that one request of the level may have; 0: as many as there is sense in.
// Of a list, or of a watch, which begins with one unless it says where it goes on.
std::uint32_t list_width(const RequestInfo& info, std::string_view target, const StoredCounts& stored, std::uint32_t most);

}  // namespace backplane::flowcontrol
