// One pass over a plan, for planner.cpp (selection) and plan_order.cpp (orders) only.
//
// Thread-safety: one thread; a Planner refers to its arguments and lives only while a plan is made.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "plugin/graph.hpp"
#include "plugin/planner.hpp"

namespace backplane {

// One pass over a plan: selects the plugins and computes the orders.
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

  // Each step rejects as few plugins as possible, and its consequences are applied before the next step. So no plugin is rejected because
  // of another one that does not run.
  void order() {
    plan_.edges.clear();
    plan_.fatal.clear();
    std::optional<Graph> start, chain;
    do {
      do {
        start = satisfied_requirements();
      } while (reject_one_conflict());
      chain = declared_order();
    } while (reject_order_cycle(*chain));
    add_optional_requirements(*start);
    add_weak_order(*chain);
    // The edges of `start` lead from a plugin to those that it requires, which start first.
    plan_.start_order = start->sorted(running(), rank(), Graph::Direction::kTargetsFirst);
    plan_.chain = chain->sorted(running(), rank(), Graph::Direction::kSourcesFirst);
    check_required();
    warn_of_shared_groups();
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
  // Position by name, which breaks ties.
  std::vector<std::size_t> rank() const {
    std::vector<std::size_t> ranks(plan_.plugins.size());
    for (std::size_t r = 0; r < named_.size(); ++r) ranks[named_[r]] = r;
    return ranks;
  }

  void take_out(std::size_t i, PluginState state, Finding finding) {
    at(i).state = state;
    at(i).inspected.findings.push_back(std::move(finding));
  }

  // Plans are made again after failures; a warning is reported once.
  void warn_once(std::size_t i, Finding finding) {
    auto& findings = at(i).inspected.findings;
    const bool reported = std::any_of(findings.begin(), findings.end(), [&](const Finding& f) {
      return f.code == finding.code && f.wanted == finding.wanted && f.found == finding.found;
    });
    if (!reported) findings.push_back(std::move(finding));
  }

  void reject_broken();
  void disable();
  void disable_idle_stores();
  void reject_duplicates();
  void warn_of_shared_groups();
  // The first running plugin that `i` conflicts with, and the name in its manifest.
  struct Conflict {
    std::size_t with;
    const std::string* name;
  };
  std::optional<Conflict> conflict_of(std::size_t i);
  bool reject_one_conflict();
  void block_dependents();
  bool block_if_unmet(std::size_t i);
  bool is_met(std::size_t i, const Requirement& requirement);
  // A plugin that would meet the requirement if it ran.
  std::optional<std::size_t> idle_provider_of(std::size_t i, const Requirement& requirement);
  void report_missing(std::size_t i);
  void report_blocked(std::size_t i);
  Finding not_provided(std::size_t i, const Requirement& requirement, std::string field);
  bool is_blocked_by(std::size_t i, std::size_t by);
  std::string chain_of(std::size_t i);
  std::string remedy_of(std::size_t i);
  // The plugin that meets the requirement of `i`: the plugin of that name, otherwise the newest provider.
  std::optional<std::size_t> provider_of(std::size_t i, const Requirement& requirement);
  bool host_provides(const Requirement& requirement) const;
  Graph requirement_graph();
  Graph satisfied_requirements();
  Graph declared_order();
  void add_optional_requirements(Graph& graph);
  void add_weak_order(Graph& graph);
  std::string shown_cycle(const std::vector<std::size_t>& cycle);
  bool reject_requirement_cycle(const Graph& graph);
  bool reject_order_cycle(const Graph& graph);
  std::string declarations_of(std::size_t i, const std::vector<std::size_t>& cycle, std::size_t& count);
  void check_required();
  // `flag`: the option that selects the plugin.
  void require(const std::string& name, const std::string& flag);
  bool is_required(std::size_t i) {
    const std::string& name = at(i).name();
    return options_.required_by_flags.contains(name) ||
           std::find(options_.required.begin(), options_.required.end(), name) != options_.required.end();
  }

  Plan& plan_;
  const PlanOptions& options_;
  std::vector<std::size_t> named_;  // plugins with a descriptor, by name
  std::unordered_map<std::string, std::vector<Provider>> providers_;
};

}  // namespace backplane
