// The feature gates of Kubernetes v1.36, and what this server does with each.
//
// Thread-safety: constants.
#pragma once

#include <array>
#include <span>
#include <string_view>

namespace backplane {

enum class Stage : unsigned char { kAlpha, kBeta, kGa, kDeprecated };

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

// Of what is not there, and what a client must not take for there: to name one as on ends the start.
struct MissingGate {
  std::string_view name;
  std::string_view why;
};

std::span<const FeatureGate> all_gates() noexcept;                // by name
std::span<const std::string_view> switched_gates() noexcept;      // that change what this server does
std::span<const std::string_view> gates_always_there() noexcept;  // whose behaviour is there whatever they say
std::span<const std::string_view> gates_absent() noexcept;        // of kube-apiserver, whose behaviour is not here
std::span<const MissingGate> gates_not_there() noexcept;
// Which serve kinds here and no more; `why` says what is missing.
std::span<const MissingGate> gates_partly_there() noexcept;
std::span<const GateDependency> gate_dependencies() noexcept;

}  // namespace backplane
