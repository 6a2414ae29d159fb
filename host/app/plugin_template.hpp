// The files of a new plugin, from templates.
//
// Thread-safety: functions of their arguments.
// Errors:        kBadRequest for names that a plugin, a group or a kind cannot have; kAlreadyExists for a folder that has files.
#pragma once

#include <map>
#include <string>

#include "backplane/core/status.hpp"

namespace backplane {

struct NewPlugin {
  std::string name;           // "widgets": the name of the folder; the plugin is named "example.com/widgets"
  std::string group;          // "widgets.example.com"
  std::string kind;           // "Widget"
  std::string resource = {};  // plural; empty: made from the kind
  // "native": C++ with the SDK and Boost. "stable": C or C++ with the C headers in backplane/stable alone, without Boost.
  std::string tier = "native";
  std::string language = {};  // "c" or "c++"; empty: "c++" for the native tier, which has no other, and "c" for the stable one
};

// The files of the plugin: name → content.
Result<std::map<std::string, std::string>> files_of(const NewPlugin& plugin);
// Writes files into `folder`, which must be absent or empty.
Status write_plugin(const std::map<std::string, std::string>& files, const std::string& folder);
// Errors: kBadRequest with the flag that has the wrong name.
Status check_names(const NewPlugin& plugin);
// The manifest plugin.json.
std::string manifest_of(const NewPlugin& plugin);
// "widgets.example.com" → "com.example.widgets".
std::string reversed_domain(const std::string& group);
// "Policy" → "policies".
std::string plural_of(const std::string& kind);

}  // namespace backplane
