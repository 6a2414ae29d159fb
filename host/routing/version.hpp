// What the server says it is: the Kubernetes API it speaks.  Clients compare these, so they are kube-apiserver's.
//
// Thread-safety: report_version() once, before anything is served; the rest from any thread.
#pragma once

#include "backplane/status.hpp"

#include <string_view>

namespace backplane {

inline constexpr std::string_view kKubernetesVersion = "v1.36.3";
inline constexpr std::string_view kOpenApiVersion = "1.36";
// kKubernetesVersion, or what --version=vX.Y.Z made of it.
std::string_view reported_version() noexcept;
// Reports another build of the same release ("v1.36.3-vendor.1").  Errors: another major, minor or patch number.
Status report_version(std::string_view version);
// The answer of GET /version, field by field in order; gitVersion is reported_version().
inline constexpr std::pair<std::string_view, std::string_view> kVersionFields[] = {
    {"major", "1"},
    {"minor", "36"},
    {"emulationMajor", "1"},
    {"emulationMinor", "36"},
    {"minCompatibilityMajor", "1"},
    {"minCompatibilityMinor", "35"},
    {"gitVersion", kKubernetesVersion},
    {"gitCommit", "$Format:%H$"},
    {"gitTreeState", ""},
    {"buildDate", "1970-01-01T00:00:00Z"},
    {"goVersion", "go1.26.8"},
    {"compiler", "gc"},
    {"platform", "linux/amd64"},
};

}  // namespace backplane
