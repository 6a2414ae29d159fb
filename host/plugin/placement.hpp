// --plugin-placement: where a plugin runs.
//
// Thread-safety: values.
// Errors:        kBadRequest for a value that is not NAME=PLACE, names no place, or names a plugin twice; the message names the flag.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/status.hpp"

namespace backplane {

enum class Placement : unsigned char { kInProcess, kRunner };
// "in-process", "runner".
std::string_view placement_name(Placement placement) noexcept;

// The placements by plugin; the key is the plugin's name or the last part of the name.
using Placements = std::map<std::string, Placement>;
Result<Placements> read_placements(const std::vector<std::string>& values);
Placement placement_of(const Placements& placements, const std::string& plugin);
// Whether `key` of Placements names the plugin.
bool places(const std::string& key, const std::string& plugin);

}  // namespace backplane
