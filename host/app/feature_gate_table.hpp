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
  bool locked;  // only the default value may be set
};

// Gates on which another gate depends: startup fails if the gate `name` is on and one of the gates `on` is off. `on` omits gates that are
// locked to true.
struct GateDependency {
  std::string_view name;
  std::array<std::string_view, 2> on;
};

// A gate of a feature that is absent or incomplete. Startup fails if a gate of unsupported_gates() is enabled, because a client must not
// assume the feature.
struct MissingGate {
  std::string_view name;
  std::string_view why;
};

// sorted by name; includes the gates that the release does not have (kPreAlpha)
std::vector<FeatureGate> gates_of(const ApiRelease& release);
std::span<const std::string_view> switched_gates() noexcept;       // gates that change the behaviour of this server
std::span<const std::string_view> always_on_gates() noexcept;      // gates of features that cannot be switched off
std::span<const std::string_view> unimplemented_gates() noexcept;  // gates of kube-apiserver that are not implemented in this server
std::span<const MissingGate> unsupported_gates() noexcept;
// Gates whose kinds are served without further behaviour; `why` names what is missing.
std::span<const MissingGate> partial_gates() noexcept;
std::span<const GateDependency> gate_dependencies() noexcept;

}  // namespace backplane
