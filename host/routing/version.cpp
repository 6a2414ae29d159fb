#include "routing/version.hpp"

#include <algorithm>

namespace backplane {

Result<ReportedVersion> ReportedVersion::make(std::string_view version_flag, const EffectiveVersion& effective) {
  ReportedVersion out;
  out.effective = effective;
  if (!version_flag.starts_with('v')) return out;
  const std::string_view rest = version_flag.substr(std::min(version_flag.size(), kKubernetesVersion.size()));
  if (!version_flag.starts_with(kKubernetesVersion) || (!rest.empty() && rest.front() != '-' && rest.front() != '+')) {
    return bad_request("version " + quoted(version_flag) + " must match major/minor/patch of default version " +
                       quoted(kKubernetesVersion));
  }
  out.git = version_flag;
  return out;
}

std::vector<std::pair<std::string_view, std::string>> ReportedVersion::fields() const {
  const BuildInfo& build = build_info();
  const auto& [emulated, oldest] = effective;
  return {
      {"major", "1"},
      {"minor", "36"},
      {"emulationMajor", std::to_string(emulated.major)},
      {"emulationMinor", std::to_string(emulated.minor)},
      {"minCompatibilityMajor", std::to_string(oldest.major)},
      {"minCompatibilityMinor", std::to_string(oldest.minor)},
      {"gitVersion", git},
      {"gitCommit", std::string(build.commit)},
      {"gitTreeState", std::string(build.tree_state)},
      {"buildDate", std::string(build.date)},
      {"goVersion", std::string(kGoVersion)},
      {"compiler", "gc"},
      {"platform", "linux/amd64"},
  };
}

}  // namespace backplane
