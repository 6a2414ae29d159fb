// The Kubernetes release that the server speaks, which clients compare and which is kube-apiserver's, and the build of Backplane.
//
// Thread-safety: report_version() and emulate() once, before anything is served; the rest from any thread.
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

// kKubernetesVersion, or what --version=vX.Y.Z made of it.
std::string_view reported_version() noexcept;
// Reports another build of the same release ("v1.36.3-vendor.1").  Errors: another major, minor or patch number.
Status report_version(std::string_view version);

inline constexpr std::string_view kGoVersion = "go1.26.8";  // of the kube-apiserver that answers as this server does
// The releases of --emulated-version and --min-compatibility-version.
struct EffectiveVersion {
  ApiRelease emulation = kApiRelease;
  ApiRelease min_compatibility{kApiRelease.major, kApiRelease.minor - 1};
};
const EffectiveVersion& effective_version() noexcept;
void emulate(const EffectiveVersion& version) noexcept;

// The answer of GET /version, field by field in order.
std::vector<std::pair<std::string_view, std::string>> version_fields();

}  // namespace backplane
