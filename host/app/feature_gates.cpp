#include "app/feature_gates.hpp"

#include <algorithm>

#include "app/flag_values.hpp"

namespace backplane {
namespace {

bool has(std::span<const std::string_view> list, std::string_view name) { return std::find(list.begin(), list.end(), name) != list.end(); }

// Removes the prefix `kube:`, which names the component. This server has no other component.
std::string_view without_component(std::string_view item) {
  constexpr std::string_view kComponent = "kube:";
  return item.starts_with(kComponent) ? item.substr(kComponent.size()) : item;
}

}  // namespace

FeatureGates::FeatureGates(const EffectiveVersion& version) : version_(version), gates_(gates_of(version.emulation)) {
  for (const auto& gate : gates_) on_.emplace(gate.name, gate.on);
}

const FeatureGate* FeatureGates::find(std::string_view name) const {
  const auto found =
      std::lower_bound(gates_.begin(), gates_.end(), name, [](const FeatureGate& gate, std::string_view n) { return gate.name < n; });
  return found == gates_.end() || found->name != name ? nullptr : &*found;
}

std::string FeatureGates::switched_of(Stage stage) const {
  std::string names;
  for (const std::string_view name : switched_gates()) {
    if (find(name)->stage == stage) names.append(names.empty() ? "" : ", ").append(name);
  }
  return names;
}

bool FeatureGates::exists(std::string_view name) const {
  const FeatureGate* gate = find(name);
  return gate != nullptr && gate->stage != Stage::kPreAlpha;
}

void FeatureGates::set_stage(std::string_view all, bool on) {
  const Stage stage = all == "AllAlpha" ? Stage::kAlpha : Stage::kBeta;
  for (const auto& gate : gates_) {
    if (gate.stage == stage && gate.name != "AllAlpha" && gate.name != "AllBeta") on_.find(gate.name)->second = on;
  }
}

void FeatureGates::set_one(std::string_view name, bool on, std::vector<std::string>& problems) {
  const FeatureGate& gate = *find(name);
  if (gate.locked && on != gate.on) {
    problems.push_back("--feature-gates: " + std::string(name) + " is locked to " + (gate.on ? "true" : "false") + "; remove it");
    return;
  }
  if (gate.stage == Stage::kPreAlpha) {
    problems.push_back("cannot set feature gate " + std::string(name) + " to " + (on ? "true" : "false") +
                       ", feature is PreAlpha at emulated version " + version_.emulation.to_string() + ", min compatibility version " +
                       version_.min_compatibility.to_string());
    return;
  }
  for (const MissingGate& missing : unsupported_gates()) {
    if (!on || missing.name != name) continue;
    problems.push_back("--feature-gates: " + std::string(name) + "=true is not supported: " + std::string(missing.why));
    return;
  }
  on_.find(name)->second = on;
  named_.emplace(name);
  for (const MissingGate& partly : partial_gates()) {
    if (on && partly.name == name) remarks_.push_back("feature gate " + std::string(name) + "=true: " + std::string(partly.why));
  }
  if (name == "AllAlpha" || name == "AllBeta") set_stage(name, on);
  if (gate.stage != Stage::kGa && gate.stage != Stage::kDeprecated) return;
  const bool ga = gate.stage == Stage::kGa;
  remarks_.push_back(std::string("Setting ") + (ga ? "GA" : "deprecated") + " feature gate " + std::string(name) + "=" +
                     (on ? "true" : "false") + ". It will be removed in a future release.");
}

std::vector<std::string> FeatureGates::set(const std::vector<std::string>& items) {
  std::vector<std::string> problems;
  // AllAlpha and AllBeta are set first, so that an item that names a single gate overrides them.
  for (const bool stages : {true, false}) {
    for (const auto& item : items) {
      const std::string_view pair = without_component(item);
      if (pair.empty()) continue;
      const auto equals = pair.find('=');
      const std::string_view name = pair.substr(0, equals);
      if ((name == "AllAlpha" || name == "AllBeta") != stages) continue;
      const std::string_view value = equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1);
      if (equals == std::string_view::npos) {
        problems.push_back("--feature-gates: " + std::string(name) + " must have a value: " + std::string(name) + "=true or =false");
      } else if (auto problem = flag_value_problem(FlagType::kBool, value); !problem.empty()) {
        problems.push_back("--feature-gates: invalid value in " + std::string(pair) + ": " + problem);
      } else if (find(name) == nullptr) {
        problems.push_back("--feature-gates: unknown gate " + std::string(name) + "; 'backplane help gates' lists the gates");
      } else {
        set_one(name, to_bool(value), problems);
      }
    }
  }
  if (problems.empty()) check_dependencies(problems);
  return problems;
}

void FeatureGates::check_dependencies(std::vector<std::string>& problems) const {
  for (const GateDependency& dependency : gate_dependencies()) {
    if (!enabled(dependency.name)) continue;
    std::string off;
    for (const std::string_view needed : dependency.on) {
      if (!needed.empty() && !enabled(needed)) off.append(off.empty() ? "" : ", ").append(needed);
    }
    if (off.empty()) continue;
    problems.push_back("--feature-gates: " + std::string(dependency.name) + "=true requires " + off + " to be on");
  }
}

std::string_view FeatureGates::stage_of(std::string_view name) const {
  static constexpr std::string_view kWords[] = {"", "ALPHA", "BETA", "", "DEPRECATED"};
  const FeatureGate* gate = find(name);
  return gate == nullptr ? std::string_view() : kWords[static_cast<std::size_t>(gate->stage)];
}

bool FeatureGates::in_effect(std::string_view name) const {
  return has(always_on_gates(), name) || (enabled(name) && !has(unimplemented_gates(), name));
}

std::string FeatureGates::help() {
  constexpr std::string_view kStages[] = {"", "ALPHA", "BETA", "GA", "DEPRECATED"};
  std::string out = "Gates of --feature-gates: name, stage, default, effect.\n\n";
  for (const FeatureGate& gate : gates_of(kApiRelease)) {
    const bool always = has(always_on_gates(), gate.name);
    const std::string_view effect = has(switched_gates(), gate.name) ? "" : always ? "always on" : "no effect";
    std::string row = "  " + std::string(gate.name);
    row.resize(std::max<std::size_t>(row.size() + 1, 58), ' ');
    row.append(kStages[static_cast<std::size_t>(gate.stage)]).resize(70, ' ');
    row.append(gate.on ? "true " : "false").append(gate.locked ? " (locked)  " : "           ").append(effect);
    row.erase(row.find_last_not_of(' ') + 1);
    out.append(row).append("\n");
  }
  return out;
}

std::vector<std::string> FeatureGates::without_effect() const {
  std::vector<std::string> names;
  for (const auto& name : named_) {
    if (name == "AllAlpha" || name == "AllBeta") {
      const std::string exceptions = switched_of(name == "AllAlpha" ? Stage::kAlpha : Stage::kBeta);
      names.push_back(name + (exceptions.empty() ? "" : " (but for " + exceptions + ")"));
    } else if (enabled(name) != in_effect(name)) {
      names.push_back(name);
    }
  }
  return names;
}

bool FeatureGates::enabled(std::string_view name) const {
  const auto found = on_.find(name);
  return found != on_.end() && found->second;
}

}  // namespace backplane
