#include "width.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "backplane/points/http.hpp"

namespace backplane::flowcontrol {
namespace {

constexpr std::uint32_t kMostSeatsOfObjects = 10, kMostSeatsOfBytes = 100;
constexpr std::uint64_t kObjectsOfASeat = 100, kBytesOfASeat = 100'000;
// The maximum number of bytes that a list from the cache holds at once, because it is written piece by piece.
constexpr std::uint64_t kMostBytesFromCache = 1'000'000;
// The size assumed for an object whose size is unknown.
constexpr std::uint64_t kLargestObject = 1'500'000;

struct Asked {
  std::uint64_t limit = 0;
  std::string_view revision;
  std::string_view match;
  bool continues = false;
  bool selects = false;
  std::optional<bool> initial_events;
};

// Reads the query like ListOptions: an invalid number is an error.
std::optional<Asked> read(const Query& query) {
  Asked asked;
  if (const std::string_view limit = query_get(query, "limit"); !limit.empty()) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(limit.data(), limit.data() + limit.size(), number);
    if (error != std::errc() || end != limit.data() + limit.size()) return std::nullopt;
    asked.limit = static_cast<std::uint64_t>(std::max<std::int64_t>(number, 0));
  }
  asked.revision = query_get(query, "resourceVersion");
  asked.match = query_get(query, "resourceVersionMatch");
  asked.continues = !query_get(query, "continue").empty();
  asked.selects = !query_get(query, "fieldSelector").empty() || !query_get(query, "labelSelector").empty();
  if (query_has(query, "sendInitialEvents")) {
    const std::string_view text = query_get(query, "sendInitialEvents");
    asked.initial_events = text != "false" && text != "0";
  }
  return asked;
}

bool is_specific_revision(std::string_view revision) { return !revision.empty() && revision != "0"; }

// Whether upstream's watch cache answers the request.
bool from_cache(const Asked& asked) {
  if (asked.match == "Exact") return false;
  if (asked.match == "NotOlderThan") return true;
  if (!asked.match.empty() || asked.continues) return false;
  return asked.limit == 0 || !is_specific_revision(asked.revision);
}

std::uint64_t seats_of_objects(const Asked& asked, std::uint64_t stored, bool cached, bool one) {
  const std::uint64_t given = asked.limit > 0 ? std::min(asked.limit, stored) : stored;
  const std::uint64_t gone_through = one ? 1 : cached ? stored : asked.selects ? stored + given : 2 * given;
  return (gone_through + kObjectsOfASeat - 1) / kObjectsOfASeat;
}

std::uint64_t seats_of_bytes(const Asked& asked, const StoredSize& stored, bool cached, bool one) {
  const std::uint64_t average = stored.objects == 0 ? 0 : stored.bytes == 0 ? kLargestObject : stored.bytes / stored.objects;
  const std::uint64_t given = asked.limit > 0 ? std::min(asked.limit, stored.objects) : stored.objects;
  const std::uint64_t held = one ? 1 : !cached && asked.selects ? std::max(given, stored.objects / 2) : given;
  const std::uint64_t bytes = cached ? std::min(held * average, kMostBytesFromCache) : held * average;
  return (bytes + kBytesOfASeat - 1) / kBytesOfASeat;
}

}  // namespace

std::string stored_key(std::string_view group, std::string_view resource) {
  std::string key(resource);
  if (!group.empty()) key.append(".").append(group);
  return key;
}

std::uint32_t list_width(const RequestInfo& info, const StoredCounts& stored, std::uint32_t most, ListCost cost) {
  const std::uint32_t limit = cost == ListCost::kBytes ? kMostSeatsOfBytes : kMostSeatsOfObjects;
  const std::uint32_t highest = most == 0 ? limit : std::min(most, limit);
  const auto asked = info.query_error.ok() ? read(info.query) : std::nullopt;
  if (!asked) return highest;
  const bool watch = info.verb == "watch";
  if (watch && !asked->initial_events.value_or(false) && is_specific_revision(asked->revision)) return 1;
  // A list of objects that this server does not store is cheap for this server.
  const auto found = stored.find(stored_key(info.api_group, info.resource));
  if (found == stored.end()) return 1;
  const bool cached = watch || from_cache(*asked), one = !info.name.empty();
  const std::uint64_t seats = cost == ListCost::kBytes ? seats_of_bytes(*asked, found->second, cached, one)
                                                       : seats_of_objects(*asked, found->second.objects, cached, one);
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(seats, 1, highest));
}

}  // namespace backplane::flowcontrol
