// The orders of a plan: the start order, the order of delegation, and the rejection of cycles.
#include <map>

#include "plugin/planner_pass.hpp"

namespace backplane {

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

// Rejects plugins whose requirements are not met, repeatedly. Also rejects all plugins of a cycle of requirements, because none could
// start.
Graph Planner::satisfied_requirements() {
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
  const auto all = running();
  const auto each = [&](const std::vector<std::string>& names, std::size_t i, auto&& function) {
    for (const auto& name : names) {
      if (name == "*") continue;
      for (const auto j : all) {
        if (i != j && descriptor(j).answers_to(name)) function(j);
      }
    }
  };
  for (const auto i : all) {
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

// Adds the edges with a lower precedence than those by name: first those of "*", then those from each plugin to the plugins that it
// requires. An edge that would close a cycle is left out.
void Planner::add_weak_order(Graph& graph) {
  const auto all = running();
  const auto has_star = [](const std::vector<std::string>& names) { return std::find(names.begin(), names.end(), "*") != names.end(); };
  const auto add = [&graph](std::size_t front, std::size_t back) {
    if (front != back && !graph.reaches(back, front)) graph.add(front, back);
  };
  for (const auto i : all) {
    const bool front = has_star(descriptor(i).in_front_of), back = has_star(descriptor(i).behind);
    for (const auto j : all) {
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

// "x declares in_front_of core and behind apps"; `count`: the number of these edges of the cycle.  Empty if the plugin declares none of
// them.
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
      break;  // the plan may have the edge twice, by the plugin's name and by a capability
    }
  }
  return text;
}

// Rejects one plugin, which breaks the cycle: the one that declares most of its edges.  So core and apps keep running if a third plugin
// declares a contradictory place between them.
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
  std::string named;
  for (const auto i : cycle) {
    if (count[i] > 0) named += "; " + declarations[i];
  }
  take_out(cycle.front(), PluginState::kRejected,
           {finding_code::kOrderCycle,
            Severity::kError,
            "in_front_of, behind",
            {},
            path,
            "a cycle: each must run in front of the next" + named,
            "take one of the declarations back"});
  return true;
}

}  // namespace backplane
