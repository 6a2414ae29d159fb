#include "routing/version.hpp"

namespace backplane {
namespace {

std::string& reported() {
  static std::string version(kKubernetesVersion);
  return version;
}

EffectiveVersion& effective() {
  static EffectiveVersion version;
  return version;
}

}  // namespace

const EffectiveVersion& effective_version() noexcept { return effective(); }

void emulate(const EffectiveVersion& version) noexcept { effective() = version; }

std::string_view reported_version() noexcept { return reported(); }

Status report_version(std::string_view version) {
  const std::string_view rest = version.substr(std::min(version.size(), kKubernetesVersion.size()));
  if (!version.starts_with(kKubernetesVersion) || (!rest.empty() && rest.front() != '-' && rest.front() != '+')) {
    return bad_request("version " + quoted(version) + " must match major/minor/patch of default version " + quoted(kKubernetesVersion));
  }
  reported() = version;
  return {};
}

std::vector<std::pair<std::string_view, std::string>> version_fields() {
  const BuildInfo& build = build_info();
  const auto& [emulated, oldest] = effective_version();
  return {
      {"major", "1"},
      {"minor", "36"},
      {"emulationMajor", std::to_string(emulated.major)},
      {"emulationMinor", std::to_string(emulated.minor)},
      {"minCompatibilityMajor", std::to_string(oldest.major)},
      {"minCompatibilityMinor", std::to_string(oldest.minor)},
      {"gitVersion", reported()},
      {"gitCommit", std::string(build.commit)},
      {"gitTreeState", std::string(build.tree_state)},
      {"buildDate", std::string(build.date)},
      {"goVersion", std::string(kGoVersion)},
      {"compiler", "gc"},
      {"platform", "linux/amd64"},
  };
}

}  // namespace backplane
