// The setting staticManifestsDir of the plugins' configurations.
//
// Thread-safety: any thread; reads the file system.
// Errors:        upstream's validation messages.
#pragma once

#include <string>

#include "backplane/core/status.hpp"

namespace backplane::admission::manifests {

// Checks staticManifestsDir in a plugin's configuration. `enabled`: the gate ManifestBasedAdmissionControlConfig.
Status check_directory(const std::string& directory, bool enabled);

}  // namespace backplane::admission::manifests
