// What the server says it is: the Kubernetes API it speaks.  Clients compare these, so they are upstream's (api-facts of v1.36).
#pragma once

#include <string_view>

namespace backplane {

inline constexpr std::string_view kKubernetesVersion = "v1.36.3";
inline constexpr std::string_view kOpenApiVersion = "1.36";
// The answer of GET /version, field by field in order.
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
