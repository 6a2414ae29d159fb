#include "plugin/planner.hpp"

#include <algorithm>
#include <map>

#include "plugin/planner_pass.hpp"

namespace backplane {

namespace {

std::string requires_field(std::size_t r) { return "requires[" + std::to_string(r) + "]"; }

}  // namespace

void Planner::reject_broken() {
  for (auto& plugin : plan_.plugins) {
    if (!plugin.runs()) continue;  // the files of disabled plugins may be invalid
    if (!plugin.inspected.descriptor || has_errors(plugin.inspected.findings)) plugin.state = PluginState::kRejected;
  }
}

void Planner::disable() {
  for (const auto& name : options_.disabled) {
    bool known = false;
    for (const auto i : named_) {
      if (at(i).name() != name) continue;
      known = true;
      if (at(i).runs()) at(i).state = PluginState::kDisabled;
    }
    if (!known) {
      plan_.general.push_back(
          {finding_code::kUnknownDisabled, Severity::kWarning, "--disable-plugin", {}, name, "there is no plugin of this name", {}});
    }
  }
}

// Disables stores that are not in use: their libraries are large.
void Planner::disable_idle_stores() {
  constexpr std::string_view kStore = "storage/";
  const std::string used = std::string(kStore) + options_.storage;
  const auto provides = [&](std::size_t i, auto&& fits) {
    const auto& names = descriptor(i).provides;
    return std::any_of(names.begin(), names.end(), [&](const Capability& capability) { return fits(capability.name); });
  };
  const auto is_used = [&](std::string_view name) { return name == used; };
  const auto is_other = [&](std::string_view name) { return !name.starts_with(kStore) && name != "storage"; };
  const auto stores = running();
  if (options_.storage.empty() || std::none_of(stores.begin(), stores.end(), [&](auto i) { return provides(i, is_used); })) return;
  for (const auto i : stores) {
    const bool idle = !descriptor(i).provides.empty() && !provides(i, is_used) && !provides(i, is_other);
    if (idle && !is_required(i)) at(i).state = PluginState::kDisabled;
  }
}

void Planner::reject_duplicates() {
  std::map<std::string, std::size_t> best;
  for (const auto i : named_) {
    if (!at(i).runs()) continue;
    auto [slot, first] = best.emplace(at(i).name(), i);
    if (first) continue;
    std::size_t kept = slot->second, dropped = i;
    if (descriptor(kept).version < descriptor(dropped).version) std::swap(kept, dropped);
    slot->second = kept;
    take_out(dropped, PluginState::kRejected,
             {finding_code::kDuplicateName,
              Severity::kError,
              "name",
              {},
              at(dropped).name() + " " + descriptor(dropped).version.to_string(),
              "the name is taken by version " + descriptor(kept).version.to_string() + " in " + at(kept).inspected.path,
              "remove one of the two files"});
  }
}

// The second plugin that installs a version of the group will be refused; the versions are known only when the plugins run.
void Planner::warn_of_shared_groups() {
  constexpr std::string_view kGroup = "group:";
  std::map<std::string, std::vector<std::size_t>> groups;
  for (const auto i : running()) {
    for (const auto& capability : descriptor(i).provides) {
      if (capability.name.starts_with(kGroup)) groups[capability.name].push_back(i);
    }
  }
  for (const auto& [group, plugins] : groups) {
    for (const auto i : plugins) {
      for (const auto j : plugins) {
        if (i == j) continue;
        warn_once(i, {finding_code::kSharedGroup,
                      Severity::kWarning,
                      "provides",
                      {},
                      group + " of " + at(j).name() + " in " + at(j).inspected.path,
                      "another plugin provides the group, too; a group version that both install is served by the first alone",
                      "disable one of the two with --disable-plugin, or give it another group"});
      }
    }
  }
}

std::optional<Planner::Conflict> Planner::conflict_of(std::size_t i) {
  for (const auto& name : descriptor(i).conflicts) {
    for (const auto j : running()) {
      if (i != j && descriptor(j).answers_to(name)) return Conflict{j, &name};
    }
  }
  return std::nullopt;
}

// Rejects one plugin that declares a conflict, first those in conflict with a plugin that declares none: of a → b → c only b is rejected.
bool Planner::reject_one_conflict() {
  std::optional<std::size_t> gives_way;
  for (const auto i : running()) {
    const auto conflict = conflict_of(i);
    if (!conflict) continue;
    const bool certain = !conflict_of(conflict->with);
    if (certain || !gives_way) gives_way = i;
    if (certain) break;
  }
  if (!gives_way) return false;
  const auto i = *gives_way;
  const auto conflict = *conflict_of(i);
  const bool spare = is_required(i) && !is_required(conflict.with);
  const std::size_t out = spare ? conflict.with : i, other = spare ? i : conflict.with;
  take_out(out, PluginState::kRejected,
           {finding_code::kConflict,
            Severity::kError,
            "conflicts",
            {},
            at(other).name() + " " + descriptor(other).version.to_string(),
            at(i).name() + " declares a conflict with " + *conflict.name,
            "disable one of the two with --disable-plugin"});
  return true;
}

bool Planner::host_provides(const Requirement& requirement) const {
  return std::any_of(options_.host_capabilities.begin(), options_.host_capabilities.end(), [&](const Capability& capability) {
    return capability.name == requirement.name && requirement.range.contains(capability.version);
  });
}

std::optional<std::size_t> Planner::provider_of(std::size_t i, const Requirement& requirement) {
  const auto found = providers_.find(requirement.name);
  if (found == providers_.end()) return std::nullopt;
  const Provider* best = nullptr;
  for (const auto& provider : found->second) {
    if (!at(provider.plugin).runs() || !requirement.range.contains(provider.version)) continue;
    if (provider.plugin == i || at(provider.plugin).name() == requirement.name) return provider.plugin;
    if (!best || best->version < provider.version) best = &provider;
  }
  return best ? std::optional(best->plugin) : std::nullopt;
}

std::string Planner::chain_of(std::size_t i) {
  std::string text = at(i).name();
  std::size_t steps = 0;
  for (auto next = at(i).blocked_by; next && steps < plan_.plugins.size(); ++steps) {
    text += " ← " + at(*next).name();
    i = *next;
    next = at(i).blocked_by;
  }
  const auto code = at(i).code();
  return text + ": " + (code.empty() ? std::string(state_name(at(i).state)) : std::string(code));
}

// What to do about a plugin that requires `i`; empty unless a disabled plugin is the cause.
std::string Planner::remedy_of(std::size_t i) {
  for (std::size_t steps = 0; at(i).blocked_by && steps < plan_.plugins.size(); ++steps) i = *at(i).blocked_by;
  if (at(i).state != PluginState::kDisabled) return {};
  const std::string& name = at(i).name();
  return "in a running server: backplane plugin enable " + name + "; for a startup: remove " + name + " from --disable-plugin";
}

bool Planner::is_met(std::size_t i, const Requirement& requirement) {
  if (requirement.optional || host_provides(requirement) || provider_of(i, requirement)) return true;
  // A plugin's own capability counts even if the plugin has been rejected.
  const auto& providers = providers_[requirement.name];
  return std::any_of(providers.begin(), providers.end(),
                     [&](const Provider& p) { return p.plugin == i && requirement.range.contains(p.version); });
}

std::optional<std::size_t> Planner::idle_provider_of(std::size_t i, const Requirement& requirement) {
  for (const auto& provider : providers_[requirement.name]) {
    if (provider.plugin != i && requirement.range.contains(provider.version)) return provider.plugin;
  }
  return std::nullopt;
}

bool Planner::block_if_unmet(std::size_t i) {
  for (const auto& requirement : descriptor(i).requires_) {
    if (is_met(i, requirement)) continue;
    at(i).state = PluginState::kBlocked;
    at(i).blocked_by = idle_provider_of(i, requirement);
    return true;
  }
  return false;
}

bool Planner::is_blocked_by(std::size_t i, std::size_t by) {
  for (std::optional<std::size_t> next = i; next; next = at(*next).blocked_by) {
    if (*next == by) return true;
  }
  return false;
}

Finding Planner::not_provided(std::size_t i, const Requirement& requirement, std::string field) {
  std::string versions;
  for (const auto& provider : providers_[requirement.name]) {
    if (provider.plugin == i) continue;
    const auto shown = at(provider.plugin).name() + " " + provider.version.to_string();
    if (versions.find(shown) == std::string::npos) versions += (versions.empty() ? "" : ", ") + shown;
  }
  for (const auto& capability : options_.host_capabilities) {
    if (capability.name == requirement.name) versions += (versions.empty() ? "" : ", ") + ("the host's " + capability.version.to_string());
  }
  const bool missing = versions.empty();
  return {missing ? finding_code::kMissing : finding_code::kOutOfRange,
          Severity::kError,
          std::move(field),
          requirement.name + " " + requirement.range.text(),
          missing ? "nothing" : versions,
          missing ? "no plugin provides what it requires" : "what it requires is present in another version",
          missing ? "install a plugin that provides " + requirement.name : "install a version in the range"};
}

void Planner::report_missing(std::size_t i) {
  for (std::size_t r = 0; r < descriptor(i).requires_.size(); ++r) {
    const auto& requirement = descriptor(i).requires_[r];
    if (is_met(i, requirement) || idle_provider_of(i, requirement)) continue;
    at(i).inspected.findings.push_back(not_provided(i, requirement, requires_field(r)));
  }
}

void Planner::report_blocked(std::size_t i) {
  for (std::size_t r = 0; r < descriptor(i).requires_.size(); ++r) {
    const auto& requirement = descriptor(i).requires_[r];
    const auto provider = is_met(i, requirement) ? std::nullopt : idle_provider_of(i, requirement);
    if (!provider || is_blocked_by(*provider, i)) continue;  // this plugin causes the rejection of the other one
    at(i).inspected.findings.push_back({finding_code::kBlocked, Severity::kError, requires_field(r),
                                        requirement.name + " " + requirement.range.text(), at(i).name() + " ← " + chain_of(*provider),
                                        "does not run because of what it requires", remedy_of(*provider)});
  }
}

void Planner::block_dependents() {
  std::vector<std::size_t> blocked;
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto i : running()) {
      if (!block_if_unmet(i)) continue;
      blocked.push_back(i);
      changed = true;
    }
  }
  // One finding for each unmet requirement, reported when all are known: the findings of a chain of requirements have the code of its last
  // plugin.
  for (const auto i : blocked) report_missing(i);
  for (const auto i : blocked) report_blocked(i);
}

void Planner::check_required() {
  for (const auto& [name, flag] : options_.required_by_flags) require(name, "--" + flag);
  for (const auto& name : options_.required) {
    if (!options_.required_by_flags.contains(name)) require(name, "--require-plugin");
  }
}

void Planner::require(const std::string& name, const std::string& flag) {
  std::string why = "there is no plugin of this name";
  for (const auto i : named_) {
    if (at(i).name() != name) continue;
    if (at(i).runs()) return;
    why = std::string(state_name(at(i).state));
    for (const auto& finding : at(i).inspected.findings) {
      if (finding.severity == Severity::kError) why += "; " + to_line(finding);
    }
  }
  plan_.fatal.push_back(
      {finding_code::kRequiredMissing, Severity::kError, flag, {}, {}, "the plugin " + name + " does not run: " + why, {}});
}

std::string_view state_name(PluginState state) noexcept {
  switch (state) {
    case PluginState::kPlanned:
      return "Planned";
    case PluginState::kDisabled:
      return "Disabled";
    case PluginState::kRejected:
      return "Rejected";
    case PluginState::kBlocked:
      return "Blocked";
    case PluginState::kFailed:
      return "Failed";
    case PluginState::kCommitted:
      break;
  }
  return "Committed";
}

std::string_view PlannedPlugin::code() const noexcept {
  for (const auto& finding : inspected.findings) {
    if (finding.severity == Severity::kError) return finding.code;
  }
  return {};
}

Plan plan_plugins(std::vector<InspectedPlugin> plugins, const PlanOptions& options) {
  Plan plan;
  for (auto& plugin : plugins) plan.plugins.push_back({std::move(plugin), PluginState::kPlanned, std::nullopt});
  Planner planner(plan, options);
  planner.select();
  planner.order();
  return plan;
}

void replan(Plan& plan, const PlanOptions& options) { Planner(plan, options).order(); }

}  // namespace backplane
