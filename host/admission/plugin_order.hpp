// The admission plugins of kube-apiserver 1.36 in the order in which it runs them, and the places of other plugins in that order.
//
// Thread-safety: pure functions and constants.
// Errors:        places that contradict each other.
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

// Every name, upstream's and those of `registered`, in running order. A place next to a plugin that is not known has no effect.
// Errors:        `admission plugin "a" cannot run before "b" and after "c"`.
Result<std::vector<std::string>> admission_order(const std::vector<AdmissionRegistration>& registered);

// The names that run, in order: those on by default, and changed by --enable-admission-plugins and --disable-admission-plugins.
std::vector<std::string> enabled_admission(const std::vector<std::string>& order, const std::vector<AdmissionRegistration>& registered,
                                           const std::vector<std::string>& enable, const std::vector<std::string>& disable);

}  // namespace backplane
