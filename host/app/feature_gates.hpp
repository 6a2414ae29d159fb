// The feature gates of Kubernetes v1.36: names, defaults in the emulated release, and what --feature-gates makes of them.
//
// Thread-safety: set() on one thread at start-up; enabled() from any thread afterwards.
// Errors:        unknown names and values that are no booleans, all of them at once; else gates that are on without those they need.
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
  // Log lines about gates that were set needlessly.
  const std::vector<std::string>& remarks() const noexcept { return remarks_; }
  // The flag's value, or the gate's default.
  bool enabled(std::string_view name) const;
  // What this server does of a gate: what it switches, what is always there, and off for what is not there at all.
  bool in_effect(std::string_view name) const;
  const std::map<std::string, bool, std::less<>>& all() const noexcept { return on_; }
  // The text of `backplane help gates`: one line per gate.
  static std::string help();
  // Gates that --feature-gates named and whose value changes nothing here; of a whole stage with those of it that do.
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
