// The feature gates of Kubernetes v1.36: names, defaults in the emulated release, and the values that --feature-gates sets.
//
// Thread-safety: set() on one thread at start-up; enabled() from any thread afterwards.
// Errors:        set() reports every item that is not valid. If all are valid, it reports the gates that are on although a gate that they
//                depend on is off.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/feature_gate_table.hpp"
#include "routing/version.hpp"

namespace backplane {

class FeatureGates {
 public:
  explicit FeatureGates(const EffectiveVersion& version = {});
  // `items`: "Name=bool", optionally with the prefix "kube:".  Returns all problems, each naming the flag and the gate.
  std::vector<std::string> set(const std::vector<std::string>& items);
  // Log lines: one for each gate that is set although it is generally available or deprecated, and one for each gate that is set to true
  // although only a part of its feature is implemented.
  const std::vector<std::string>& remarks() const noexcept { return remarks_; }
  // The flag's value, or the gate's default.
  bool enabled(std::string_view name) const;
  // Whether the behaviour of the gate is present: true if the behaviour cannot be switched off, false if it is not implemented, otherwise
  // the gate's value.
  bool in_effect(std::string_view name) const;
  const std::map<std::string, bool, std::less<>>& all() const noexcept { return on_; }
  // The text of `backplane help gates`: one line per gate.
  static std::string help();
  // Gates that --feature-gates sets without effect on this server. AllAlpha and AllBeta are listed with the gates of the stage that have an
  // effect.
  std::vector<std::string> without_effect() const;
  // "ALPHA", "BETA", "DEPRECATED", or "" for gates that are generally available; as metrics spell it.
  std::string_view stage_of(std::string_view name) const;
  // Whether the emulated release has the gate.
  bool exists(std::string_view name) const;

 private:
  const FeatureGate* find(std::string_view name) const;
  std::string switched_of(Stage stage) const;
  void set_stage(std::string_view all, bool on);
  void check_dependencies(std::vector<std::string>& problems) const;
  void set_one(std::string_view name, bool on, std::vector<std::string>& problems);
  EffectiveVersion version_;
  std::vector<FeatureGate> gates_;
  std::map<std::string, bool, std::less<>> on_;
  std::vector<std::string> remarks_;
  std::set<std::string, std::less<>> named_;
};

}  // namespace backplane
