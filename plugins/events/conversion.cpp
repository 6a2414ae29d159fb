#include "conversion.hpp"

#include <array>

namespace backplane::events {
namespace {

struct Renamed {
  std::string_view served;
  std::string_view stored;
};
constexpr std::array<Renamed, 7> kMembers = {{
    {"regarding", "involvedObject"},
    {"note", "message"},
    {"reportingController", "reportingComponent"},
    {"deprecatedSource", "source"},
    {"deprecatedFirstTimestamp", "firstTimestamp"},
    {"deprecatedLastTimestamp", "lastTimestamp"},
    {"deprecatedCount", "count"},
}};

// Renames a member. If `from` is missing, removes `to`, because the name `to` has no meaning in the version that is converted.
void rename(Object& object, std::string_view from, std::string_view to) {
  Value* value = find(object, from);
  if (value == nullptr) {
    erase_member(object, to);
    return;
  }
  Value moved = std::move(*value);
  erase_member(object, from);
  object[to] = std::move(moved);
}

Status to_served(Object& object) {
  for (const Renamed& member : kMembers) rename(object, member.stored, member.served);
  return {};
}

}  // namespace

Status to_core_event(Object& event) {
  for (const Renamed& member : kMembers) rename(event, member.served, member.stored);
  return {};
}

Status add_conversions(Scheme& scheme) {
  Status added = scheme.add_conversion(kServed, kStored, to_core_event);
  return added.ok() ? scheme.add_conversion(kStored, kServed, to_served) : added;
}

}  // namespace backplane::events
