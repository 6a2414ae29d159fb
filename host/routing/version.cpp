#include "routing/version.hpp"

namespace backplane {
namespace {

std::string& reported() {
  static std::string version(kKubernetesVersion);
  return version;
}

}  // namespace

std::string_view reported_version() noexcept { return reported(); }

Status report_version(std::string_view version) {
  const std::string_view rest = version.substr(std::min(version.size(), kKubernetesVersion.size()));
  if (!version.starts_with(kKubernetesVersion) || (!rest.empty() && rest.front() != '-' && rest.front() != '+')) {
    return bad_request("version " + quoted(version) + " must match major/minor/patch of default version " + quoted(kKubernetesVersion));
  }
  reported() = version;
  return {};
}

}  // namespace backplane
