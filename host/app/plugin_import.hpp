// The files of a plugin without C++ for a kind that is described in another format (a CustomResourceDefinition, an OpenAPI document).
//
// Thread-safety: functions of their arguments.
// Errors:        kBadRequest with the member of the description that a plugin cannot have, and what to do.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"

namespace backplane {

// A kind, as its description defines it.
struct ImportedKind {
  struct Version {
    std::string name;
    Object schema;  // structural; `properties` may lack apiVersion, kind and metadata
  };
  std::string group, kind, resource;
  Object facts = {};                   // further members of the kind in the group document
  std::vector<Version> versions = {};  // the stored version is first
};

struct ImportedPlugin {
  std::map<std::string, std::string> files;  // file → content
  std::vector<std::string> notes;            // differences between the plugin and the imported description
};

// `name`: the name of the plugin's folder; see NewPlugin::name.
Result<ImportedPlugin> plugin_of(const std::string& name, ImportedKind kind);

}  // namespace backplane
