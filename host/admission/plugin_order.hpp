// The admission plugins of kube-apiserver 1.36 in the order in which they run, and the positions of other plugins in this order.
//
// Thread-safety: pure functions and constants.
// Errors:        kBadRequest if the positions of plugins contradict each other.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/points/admission.hpp"

namespace backplane {

struct UpstreamAdmissionPlugin {
  std::string_view name;
  bool on_by_default;
};
std::span<const UpstreamAdmissionPlugin> upstream_admission_plugins() noexcept;
const UpstreamAdmissionPlugin* find_upstream_admission_plugin(std::string_view name) noexcept;

// Returns the names of upstream's plugins and of the registered plugins, in the order in which they run. If a plugin names a neighbour that
// does not exist, this has no effect.
// Errors:        `admission plugin "a" cannot run before "b" and after "c"`.
Result<std::vector<std::string>> admission_order(const std::vector<AdmissionRegistration>& registered);

// Returns the names of the plugins that run, in order. These are the registered plugins that are on by default, as changed by
// --enable-admission-plugins and --disable-admission-plugins.
std::vector<std::string> enabled_admission(const std::vector<std::string>& order, const std::vector<AdmissionRegistration>& registered,
                                           const std::vector<std::string>& enable, const std::vector<std::string>& disable);

}  // namespace backplane
