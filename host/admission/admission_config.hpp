// --admission-control-config-file: an AdmissionConfiguration (apiserver.config.k8s.io/v1), which gives single plugins a configuration,
// inline or as another file.
//
// Thread-safety: reads files; start-up.
// Errors:        kBadRequest with the file's name: it cannot be read, is no AdmissionConfiguration, has fields that it does not know, names
//                a plugin twice or not at all.
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
// The same for the file's text; relative paths start at the folder of `path`.
Result<AdmissionConfiguration> parse_admission_configuration(std::string_view text, const std::string& path);

}  // namespace backplane
