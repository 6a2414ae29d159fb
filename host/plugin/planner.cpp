#include "plugin/planner.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "plugin/graph.hpp"

namespace backplane {

namespace {

std::string requires_field(std::size_t r) { return "requires[" + std::to_string(r) + "]"; }

// One pass over a plan: decides who runs and computes the orders.
class Planner {
 public:
  Planner(Plan& plan, const PlanOptions& options) : plan_(plan), options_(options) {
    for (std::size_t i = 0; i < plan_.plugins.size(); ++i) {
      if (plan_.plugins[i].inspected.descriptor) named_.push_back(i);
    }
    std::stable_sort(named_.begin(), named_.end(), [this](auto a, auto b) { return at(a).name() < at(b).name(); });
    for (const auto i : named_) {
      providers_[at(i).name()].push_back({i, descriptor(i).version});
      for (const auto& capability : descriptor(i).provides) providers_[capability.name].push_back({i, capability.version});
    }
  }

  void select() {
    disable();
    disable_idle_stores();
    reject_broken();
    reject_duplicates();
  }

  // Every step takes out as little as it can, and what follows from it is seen before the next one: nobody gives way to a plugin that
  // does not run anyway.
  void order() {
    plan_.edges.clear();
    plan_.fatal.clear();
    std::optional<Graph> start, chain;
    do {
      do {
        start = settled_requirements();
      } while (reject_one_conflict());
      chain = declared_order();
    } while (reject_order_cycle(*chain));
    add_optional_requirements(*start);
    add_weak_order(*chain);
    // `start` has edges from who requires to who provides: start from the far end.
    plan_.start_order = start->sorted(running(), rank(), Graph::Direction::kTargetsFirst);
    plan_.chain = chain->sorted(running(), rank(), Graph::Direction::kSourcesFirst);
    check_required();
  }

 private:
  struct Provider {
    std::size_t plugin;
    Version version;
  };

  PlannedPlugin& at(std::size_t i) { return plan_.plugins[i]; }
  const Descriptor& descriptor(std::size_t i) { return *at(i).inspected.descriptor; }
  std::vector<std::size_t> running() {
    std::vector<std::size_t> list;
    for (const auto i : named_) {
      if (at(i).runs()) list.push_back(i);
    }
    return list;
  }
  // Position by name: what ties are broken by.
  std::vector<std::size_t> rank() const {
    std::vector<std::size_t> ranks(plan_.plugins.size());
    for (std::size_t r = 0; r < named_.size(); ++r) ranks[named_[r]] = r;
    return ranks;
  }

  void take_out(std::size_t i, PluginState state, Finding finding) {
    at(i).state = state;
    at(i).inspected.findings.push_back(std::move(finding));
  }

  // Plans are made again after failures; a warning is said once.
  void warn_once(std::size_t i, Finding finding) {
    auto& findings = at(i).inspected.findings;
    const bool told = std::any_of(findings.begin(), findings.end(), [&](const Finding& f) {
      return f.code == finding.code && f.wanted == finding.wanted && f.found == finding.found;
    });
    if (!told) findings.push_back(std::move(finding));
  }

  void reject_broken();
  void disable();
  void disable_idle_stores();
  void reject_duplicates();
  // The first running plugin that `i` says it cannot run beside, and the word it says so with.
  struct Conflict {
    std::size_t with;
    const std::string* name;
  };
  std::optional<Conflict> conflict_of(std::size_t i);
  bool reject_one_conflict();
  void block_dependents();
  bool block_if_unmet(std::size_t i);
  bool is_met(std::size_t i, const Requirement& requirement);
  // One that would do for the requirement if it ran.
  std::optional<std::size_t> idle_provider_of(std::size_t i, const Requirement& requirement);
  void report_missing(std::size_t i);
  void report_blocked(std::size_t i);
  Finding not_provided(std::size_t i, const Requirement& requirement, std::string field);
  bool is_blocked_by(std::size_t i, std::size_t by);
  std::string chain_of(std::size_t i);
  // The one that is used for a requirement: the plugin of that name, else the newest provider.
  std::optional<std::size_t> provider_of(std::size_t i, const Requirement& requirement);
  bool host_provides(const Requirement& requirement) const;
  Graph requirement_graph();
  Graph settled_requirements();
  Graph declared_order();
  void add_optional_requirements(Graph& graph);
  void add_weak_order(Graph& graph);
  std::string shown_cycle(const std::vector<std::size_t>& cycle);
  bool reject_requirement_cycle(const Graph& graph);
  bool reject_order_cycle(const Graph& graph);
  std::string declarations_of(std::size_t i, const std::vector<std::size_t>& cycle, std::size_t& count);
  void check_required();
  bool is_required(std::size_t i) {
    return std::find(options_.required.begin(), options_.required.end(), at(i).name()) != options_.required.end();
  }

  Plan& plan_;
  const PlanOptions& options_;
  std::vector<std::size_t> named_;  // plugins with a descriptor, by name
  std::unordered_map<std::string, std::vector<Provider>> providers_;
};

void Planner::reject_broken() {
  for (auto& plugin : plan_.plugins) {
    if (!plugin.runs()) continue;  // disabled: nobody asked it to be in order
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

// Their libraries are large, and nobody would ask for what they offer.
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

std::optional<Planner::Conflict> Planner::conflict_of(std::size_t i) {
  for (const auto& name : descriptor(i).conflicts) {
    for (const auto j : running()) {
      if (i != j && descriptor(j).answers_to(name)) return Conflict{j, &name};
    }
  }
  return std::nullopt;
}

// Who declares a conflict gives way, first of all to those who give way to nobody: of a → b → c only b is left out.
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
            at(i).name() + " declares that it cannot run beside " + *conflict.name,
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

bool Planner::is_met(std::size_t i, const Requirement& requirement) {
  if (requirement.optional || host_provides(requirement) || provider_of(i, requirement)) return true;
  // What it provides itself is there even when it has been taken out.
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
          missing ? "nobody provides what it requires" : "what it requires is there in another version",
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
    if (!provider || is_blocked_by(*provider, i)) continue;  // it is this plugin that keeps that one out
    at(i).inspected.findings.push_back({finding_code::kBlocked,
                                        Severity::kError,
                                        requires_field(r),
                                        requirement.name + " " + requirement.range.text(),
                                        at(i).name() + " ← " + chain_of(*provider),
                                        "does not run because of what it requires",
                                        {}});
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
  // One finding for each requirement that is not met, told once all are known: chains end with the code of who stands at their end.
  for (const auto i : blocked) report_missing(i);
  for (const auto i : blocked) report_blocked(i);
}

Graph Planner::requirement_graph() {
  Graph graph(plan_.plugins.size());
  plan_.edges.clear();
  for (const auto i : running()) {
    for (const auto& requirement : descriptor(i).requires_) {
      const auto provider = requirement.optional || host_provides(requirement) ? std::nullopt : provider_of(i, requirement);
      if (!provider || *provider == i) continue;
      graph.add(i, *provider);
      plan_.edges.push_back({PlanEdge::Kind::kRequires, i, *provider, requirement.range.text()});
    }
  }
  return graph;
}

// Takes out what misses a requirement until nobody does, and everybody of a cycle of requirements: none of them could start.
Graph Planner::settled_requirements() {
  for (;;) {
    block_dependents();
    auto graph = requirement_graph();
    if (!reject_requirement_cycle(graph)) return graph;
  }
}

void Planner::add_optional_requirements(Graph& graph) {
  for (const auto i : running()) {
    for (const auto& requirement : descriptor(i).requires_) {
      if (!requirement.optional || host_provides(requirement)) continue;
      const auto provider = provider_of(i, requirement);
      if (!provider) {
        for (const auto& other : providers_[requirement.name]) {
          if (!at(other.plugin).runs()) continue;
          warn_once(i, {finding_code::kOptionalOutOfRange,
                        Severity::kWarning,
                        "requires",
                        requirement.name + " " + requirement.range.text(),
                        other.version.to_string(),
                        "an optional requirement is there in another version and is not used",
                        {}});
        }
      } else if (*provider != i && graph.reaches(*provider, i)) {
        warn_once(i, {finding_code::kOptionalCycle,
                      Severity::kWarning,
                      "requires",
                      {},
                      at(*provider).name(),
                      "an optional requirement would close a cycle and is not used for the order",
                      {}});
      } else if (*provider != i) {
        graph.add(i, *provider);
        plan_.edges.push_back({PlanEdge::Kind::kOptional, i, *provider, requirement.range.text()});
      }
    }
  }
}

Graph Planner::declared_order() {
  Graph graph(plan_.plugins.size());
  const auto everybody = running();
  const auto each = [&](const std::vector<std::string>& names, std::size_t i, auto&& function) {
    for (const auto& name : names) {
      if (name == "*") continue;
      for (const auto j : everybody) {
        if (i != j && descriptor(j).answers_to(name)) function(j);
      }
    }
  };
  for (const auto i : everybody) {
    each(descriptor(i).in_front_of, i, [&](std::size_t j) {
      graph.add(i, j);
      plan_.edges.push_back({PlanEdge::Kind::kInFrontOf, i, j, {}});
    });
    each(descriptor(i).behind, i, [&](std::size_t j) {
      graph.add(j, i);
      plan_.edges.push_back({PlanEdge::Kind::kBehind, j, i, {}});
    });
  }
  return graph;
}

// What yields to what was said by name: first "*", then "in front of what I require".
void Planner::add_weak_order(Graph& graph) {
  const auto everybody = running();
  const auto has_star = [](const std::vector<std::string>& names) { return std::find(names.begin(), names.end(), "*") != names.end(); };
  const auto add = [&graph](std::size_t front, std::size_t back) {
    if (front != back && !graph.reaches(back, front)) graph.add(front, back);
  };
  for (const auto i : everybody) {
    const bool front = has_star(descriptor(i).in_front_of), back = has_star(descriptor(i).behind);
    for (const auto j : everybody) {
      if (front && !has_star(descriptor(j).in_front_of)) add(i, j);
      if (back && !has_star(descriptor(j).behind)) add(j, i);
    }
  }
  for (const auto& edge : plan_.edges) {
    if (edge.kind == PlanEdge::Kind::kRequires || edge.kind == PlanEdge::Kind::kOptional) add(edge.from, edge.to);
  }
}

std::string Planner::shown_cycle(const std::vector<std::size_t>& cycle) {
  std::string path;
  for (const auto i : cycle) path += at(i).name() + " → ";
  return path + at(cycle.front()).name();
}

bool Planner::reject_requirement_cycle(const Graph& graph) {
  const auto cycle = graph.cycle(running());
  if (cycle.empty()) return false;
  const auto path = shown_cycle(cycle);
  for (const auto i : cycle) {
    take_out(i, PluginState::kRejected,
             {finding_code::kDependencyCycle,
              Severity::kError,
              "requires",
              {},
              path,
              "a cycle: each requires the next",
              "take one of the declarations back"});
  }
  return true;
}

// "x declares in_front_of core and behind apps", and how many edges of the cycle that are.  Empty when it declares none of them.
std::string Planner::declarations_of(std::size_t i, const std::vector<std::size_t>& cycle, std::size_t& count) {
  std::string text;
  count = 0;
  for (std::size_t at_edge = 0; at_edge < cycle.size(); ++at_edge) {
    const auto front = cycle[at_edge], back = cycle[(at_edge + 1) % cycle.size()];
    for (const auto& edge : plan_.edges) {
      const bool in_front_of = edge.kind == PlanEdge::Kind::kInFrontOf && edge.from == i;
      const bool behind = edge.kind == PlanEdge::Kind::kBehind && edge.to == i;
      if (edge.from != front || edge.to != back || !(in_front_of || behind)) continue;
      text += text.empty() ? at(i).name() + " declares " : " and ";
      text += in_front_of ? "in_front_of " + at(back).name() : "behind " + at(front).name();
      ++count;
      break;  // the same edge may stand there twice, under a name and a capability
    }
  }
  return text;
}

// One plugin less is enough.  It is the one that declared most of the cycle: core and apps do not go because a third one stands between
// them the wrong way round.
bool Planner::reject_order_cycle(const Graph& graph) {
  auto cycle = graph.cycle(running());
  if (cycle.empty()) return false;
  const auto path = shown_cycle(cycle);
  std::vector<std::size_t> count(plan_.plugins.size());
  std::map<std::size_t, std::string> declarations;
  for (const auto i : cycle) declarations[i] = declarations_of(i, cycle, count[i]);
  const auto ranks = rank();
  const auto worse = [&](std::size_t a, std::size_t b) {
    if (count[a] != count[b]) return count[a] > count[b];
    if (is_required(a) != is_required(b)) return is_required(b);
    return ranks[a] > ranks[b];
  };
  std::sort(cycle.begin(), cycle.end(), worse);
  std::string who;
  for (const auto i : cycle) {
    if (count[i] > 0) who += "; " + declarations[i];
  }
  take_out(cycle.front(), PluginState::kRejected,
           {finding_code::kOrderCycle,
            Severity::kError,
            "in_front_of, behind",
            {},
            path,
            "a cycle: each stands in front of the next" + who,
            "take one of the declarations back"});
  return true;
}

void Planner::check_required() {
  for (const auto& name : options_.required) {
    std::string why = "there is no plugin of this name";
    bool runs = false;
    for (const auto i : named_) {
      if (at(i).name() != name) continue;
      if ((runs = at(i).runs())) break;
      why = std::string(state_name(at(i).state));
      for (const auto& finding : at(i).inspected.findings) {
        if (finding.severity == Severity::kError) why += "; " + to_line(finding);
      }
    }
    if (!runs)
      plan_.fatal.push_back(
          {finding_code::kRequiredMissing, Severity::kError, "--require-plugin", name, {}, "a required plugin does not run: " + why, {}});
  }
}

}  // namespace

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
