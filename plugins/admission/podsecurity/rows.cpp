#include "podsecurity/rows.hpp"

#include <array>

#include "podsecurity/pod_security.hpp"

namespace backplane::admission {
namespace {

constexpr std::array kPodSecurityRows = {PluginRow{"PodSecurity", &podsecurity::make_pod_security}};

}  // namespace

std::span<const PluginRow> pod_security_plugins() { return kPodSecurityRows; }

}  // namespace backplane::admission
