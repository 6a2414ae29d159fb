// The feature gates of Kubernetes v1.36 in each release that can be emulated (schema/feature_gates.tsv), and what this server does with
// each.
//
// Thread-safety: constants.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "backplane/types/api_lifecycle.hpp"

namespace backplane {

// kPreAlpha: the release does not have the gate.
enum class Stage : unsigned char { kPreAlpha, kAlpha, kBeta, kGa, kDeprecated };

struct FeatureGate {
  std::string_view name;
  bool on;
  Stage stage;
  bool locked;  // may only be given its default
};

// Gates that depend on others: startup fails if `name` is on and one of `on` is off.  Gates that are locked on are left out.
struct GateDependency {
  std::string_view name;
  std::array<std::string_view, 2> on;
};

// Gates of features that are absent and that a client must not assume: startup fails if one is enabled.
struct MissingGate {
  std::string_view name;
  std::string_view why;
};

std::vector<FeatureGate> gates_of(const ApiRelease& release);     // by name; of every gate, also of those that the release does not have
std::span<const std::string_view> switched_gates() noexcept;      // that change what this server does
std::span<const std::string_view> gates_always_there() noexcept;  // of features that cannot be switched off
std::span<const std::string_view> gates_absent() noexcept;        // of kube-apiserver; not implemented here
std::span<const MissingGate> gates_not_there() noexcept;
// Gates whose kinds are served without further behaviour; `why` names what is missing.
std::span<const MissingGate> gates_partly_there() noexcept;
std::span<const GateDependency> gate_dependencies() noexcept;

}  // namespace backplane
