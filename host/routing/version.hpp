// The version of the Kubernetes API that the server implements, which clients compare, and the version of this build of Backplane.
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
  std::string_view commit;      // "unknown" if the build had no git work tree
  std::string_view tree_state;  // "clean", "dirty" or ""
  std::string_view date;
};
const BuildInfo& build_info() noexcept;

inline constexpr std::string_view kGoVersion = "go1.26.8";  // the Go version of the corresponding kube-apiserver
// The values of --emulated-version and --min-compatibility-version.
struct EffectiveVersion {
  ApiRelease emulation = kApiRelease;
  ApiRelease min_compatibility{kApiRelease.major, kApiRelease.minor - 1};
};

// The version that a server reports. The server's Config contains it, and handlers have copies, because servers in one process may emulate
// different releases.
struct ReportedVersion {
  std::string git{kKubernetesVersion};
  EffectiveVersion effective = {};

  // If `version_flag` (--version) is a vendor's build of this release, such as "v1.36.3-vendor.1", `git` becomes this text. A value that
  // does not begin with "v" is ignored.
  // Errors: kBadRequest if the flag has another major, minor or patch number.
  static Result<ReportedVersion> make(std::string_view version_flag, const EffectiveVersion& effective = {});
  // Returns the fields of the response of GET /version, in order.
  std::vector<std::pair<std::string_view, std::string>> fields() const;
};

}  // namespace backplane
