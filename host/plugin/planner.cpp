#include "plugin/planner.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "plugin/graph.hpp"

namespace backplane {

namespace {

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
    reject_broken();
    disable();
    reject_duplicates();
    reject_conflicts();
  }

  void order() {
    plan_.edges.clear();
    plan_.fatal.clear();
    std::optional<Graph> start, chain;
    do {
      block_dependents();
      start = requirement_graph();
      chain.reset();
      if (!reject_cycle(*start, finding_code::kDependencyCycle, "requires")) chain = declared_order();
    } while (!chain || reject_cycle(*chain, finding_code::kOrderCycle, "stands in front of"));
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
  void reject_duplicates();
  void reject_conflicts();
  void block_dependents();
  bool block_if_unmet(std::size_t i);
  std::string chain_of(std::size_t i);
  // The one that is used for a requirement: the plugin of that name, else the newest provider.
  std::optional<std::size_t> provider_of(std::size_t i, const Requirement& requirement);
  bool host_provides(const Requirement& requirement) const;
  Graph requirement_graph();
  Graph declared_order();
  void add_optional_requirements(Graph& graph);
  void add_weak_order(Graph& graph);
  bool reject_cycle(const Graph& graph, std::string_view code, const char* verb);
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

void Planner::reject_conflicts() {
  for (const auto i : running()) {
    for (const auto& name : descriptor(i).conflicts) {
      for (const auto j : running()) {
        if (i == j || !at(i).runs() || !descriptor(j).answers_to(name)) continue;
        const bool spare = is_required(i) && !is_required(j);
        const std::size_t out = spare ? j : i, other = spare ? i : j;
        take_out(out, PluginState::kRejected,
                 {finding_code::kConflict,
                  Severity::kError,
                  "conflicts",
                  {},
                  at(other).name() + " " + descriptor(other).version.to_string(),
                  at(i).name() + " declares that it cannot run beside " + name,
                  "disable one of the two with --disable-plugin"});
      }
    }
  }
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

bool Planner::block_if_unmet(std::size_t i) {
  for (std::size_t r = 0; r < descriptor(i).requires_.size(); ++r) {
    const auto& requirement = descriptor(i).requires_[r];
    if (requirement.optional || host_provides(requirement) || provider_of(i, requirement)) continue;
    const std::string field = "requires[" + std::to_string(r) + "]";
    const std::string wanted = requirement.name + " " + requirement.range.text();
    std::string versions;
    for (const auto& provider : providers_[requirement.name]) {
      if (provider.plugin == i) continue;
      if (requirement.range.contains(provider.version)) {  // it would do, but does not run
        at(i).blocked_by = provider.plugin;
        take_out(i, PluginState::kBlocked,
                 {finding_code::kBlocked, Severity::kError, field, wanted, {}, "does not run because of what it requires", {}});
        at(i).inspected.findings.back().found = chain_of(i);
        return true;
      }
      const auto shown = at(provider.plugin).name() + " " + provider.version.to_string();
      if (versions.find(shown) == std::string::npos) versions += (versions.empty() ? "" : ", ") + shown;
    }
    for (const auto& capability : options_.host_capabilities) {
      if (capability.name == requirement.name) versions += "the host's " + capability.version.to_string();
    }
    const bool missing = versions.empty();
    take_out(i, PluginState::kBlocked,
             {missing ? finding_code::kMissing : finding_code::kOutOfRange, Severity::kError, field, wanted, missing ? "nothing" : versions,
              missing ? "nobody provides what it requires" : "what it requires is there in another version",
              missing ? "install a plugin that provides " + requirement.name : "install a version in the range"});
    return true;
  }
  return false;
}

void Planner::block_dependents() {
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto i : running()) changed = block_if_unmet(i) || changed;
  }
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

bool Planner::reject_cycle(const Graph& graph, std::string_view code, const char* verb) {
  const auto cycle = graph.cycle(running());
  if (cycle.empty()) return false;
  std::string path;
  for (const auto i : cycle) path += at(i).name() + " → ";
  path += at(cycle.front()).name();
  for (const auto i : cycle) {
    take_out(i, PluginState::kRejected,
             {code,
              Severity::kError,
              code == finding_code::kOrderCycle ? "in_front_of" : "requires",
              {},
              path,
              std::string("a cycle: each ") + verb + " the next",
              "take one of the declarations back"});
  }
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
