// The Kubernetes release whose API the server implements, which clients compare, and the build of Backplane.
//
// Thread-safety: values and pure functions.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backplane/core/status.hpp"
#include "backplane/types/api_lifecycle.hpp"

namespace backplane {

inline constexpr std::string_view kKubernetesVersion = "v1.36.3";

struct BuildInfo {
  std::string_view version;     // CMake's project version
  std::string_view commit;      // "unknown" without a git work tree
  std::string_view tree_state;  // clean, dirty or empty
  std::string_view date;
};
const BuildInfo& build_info() noexcept;

inline constexpr std::string_view kGoVersion = "go1.26.8";  // of the corresponding kube-apiserver
// The releases of --emulated-version and --min-compatibility-version.
struct EffectiveVersion {
  ApiRelease emulation = kApiRelease;
  ApiRelease min_compatibility{kApiRelease.major, kApiRelease.minor - 1};
};

// The version that one server reports. A server owns it (Config), and its handlers have copies: servers of one process may emulate
// different releases.
struct ReportedVersion {
  std::string git{kKubernetesVersion};
  EffectiveVersion effective = {};

  // With the build of the same release that --version=vX.Y.Z names ("v1.36.3-vendor.1"); other values of the flag change nothing.
  // Errors: another major, minor or patch number.
  static Result<ReportedVersion> make(std::string_view version_flag, const EffectiveVersion& effective = {});
  // The response of GET /version, field by field in order.
  std::vector<std::pair<std::string_view, std::string>> fields() const;
};

}  // namespace backplane
