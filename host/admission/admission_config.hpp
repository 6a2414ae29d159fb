// Reads the file of --admission-control-config-file: an AdmissionConfiguration (apiserver.config.k8s.io/v1). It contains configurations of
// plugins, or the paths of their files.
//
// Thread-safety: any thread. The functions read files; they are called during startup and for each change of a plugin.
// Errors:        kBadRequest with the name of the file. The file cannot be read, is not an AdmissionConfiguration, has an unknown field, or
//                has a plugin twice or without a name.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "backplane/points/admission.hpp"

namespace backplane {

struct ConfiguredAdmissionPlugin {
  std::string name;
  AdmissionPluginConfig config;
};
using AdmissionConfiguration = std::vector<ConfiguredAdmissionPlugin>;

Result<AdmissionConfiguration> read_admission_configuration(const std::string& path);
// Parses the text of the file. Relative paths of plugin files are relative to the folder of `path`.
Result<AdmissionConfiguration> parse_admission_configuration(std::string_view text, const std::string& path);

}  // namespace backplane
