#include "plugin/placement.hpp"

#include <algorithm>
#include <optional>

namespace backplane {
namespace {

struct PlacementName {
  Placement placement;
  std::string_view name;
};
constexpr PlacementName kNames[] = {{Placement::kInProcess, "in-process"}, {Placement::kRunner, "runner"}};

}  // namespace

std::string_view placement_name(Placement placement) noexcept { return kNames[static_cast<std::size_t>(placement)].name; }

Result<Placements> read_placements(const std::vector<std::string>& values) {
  Placements out;
  for (const std::string& value : values) {
    const auto sign = value.find('=');
    if (sign == std::string::npos || sign == 0) {
      return bad_request("--plugin-placement: " + backplane::quoted(value) + " must be NAME=PLACE, for example example.com/stock=runner");
    }
    const std::string name = value.substr(0, sign), place = value.substr(sign + 1);
    const auto* const known = std::find_if(std::begin(kNames), std::end(kNames), [&](const auto& row) { return row.name == place; });
    if (known == std::end(kNames)) {
      return bad_request("--plugin-placement: " + backplane::quoted(place) + " of plugin " + backplane::quoted(name) +
                         " must be in-process or runner");
    }
    if (!out.emplace(name, known->placement).second)
      return bad_request("--plugin-placement: names plugin " + backplane::quoted(name) + " twice");
  }
  return out;
}

bool places(const std::string& key, const std::string& plugin) { return plugin == key || plugin.ends_with("/" + key); }

Placement placement_of(const Placements& placements, const std::string& plugin) {
  const auto whole = placements.find(plugin);
  if (whole != placements.end()) return whole->second;
  const auto found = std::find_if(placements.begin(), placements.end(), [&](const auto& each) { return places(each.first, plugin); });
  return found == placements.end() ? Placement::kInProcess : found->second;
}

}  // namespace backplane
