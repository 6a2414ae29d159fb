// Computes the number of seats that a list needs, at least one. ListCost::kBytes (gate SizeBasedListCostEstimate): one seat for each 100 kB
// that the list holds in memory at once. ListCost::kObjects: one seat for each hundred objects that the list reads.
//
// Thread-safety: pure functions; StoredCounts are immutable once shared.
// Errors:        a query that cannot be parsed gets the maximum: the request will fail, and must not run earlier because of the failure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "backplane/core/request.hpp"

namespace backplane::flowcontrol {

struct StoredSize {
  std::uint64_t objects = 0;
  std::uint64_t bytes = 0;  // of all objects together
  bool operator==(const StoredSize&) const = default;
};
// The keys are those of stored_key(): "resource.group", or "resource" for the legacy group.
using StoredCounts = std::unordered_map<std::string, StoredSize>;
std::string stored_key(std::string_view group, std::string_view resource);

enum class ListCost : unsigned char { kBytes, kObjects };

// `most`: the maximum of seats for one request of the level; 0: the level has no maximum.
// A watch is counted as the list of its initial events. A watch from a resourceVersion without sendInitialEvents needs one seat.
std::uint32_t list_width(const RequestInfo& info, const StoredCounts& stored, std::uint32_t most, ListCost cost);

}  // namespace backplane::flowcontrol
