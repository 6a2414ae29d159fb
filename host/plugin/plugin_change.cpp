// One plugin of a running server: replaced by another build, withdrawn, or added.
#include <algorithm>

#include "plugin/in_tree.hpp"
#include "plugin/log.hpp"
#include "plugin/plugin_registry.hpp"
#include "plugin/plugin_start.hpp"

namespace backplane {
namespace {

Status cannot_change(const std::string& name, const std::string& why) {
  return Status(Reason::kConflict, "plugin " + backplane::quoted(name) + " cannot be changed while the server runs: " + why);
}

std::string lines(const Findings& findings) {
  std::string out;
  for (const auto& finding : findings) {
    if (finding.severity == Severity::kError) out += (out.empty() ? "" : "\n") + to_line(finding);
  }
  return out;
}

Status unusable(const std::string& file, const Findings& findings) { return bad_request(file + ": " + lines(findings)); }

// Registrations that the server reads only once, at startup.
Status check_replaceable(const std::string& name, const StagedRegistrations& own, const DelegationTarget& target) {
  if (!own.storage_backends.empty()) return cannot_change(name, "it provides a store");
  if (own.request_gate) return cannot_change(name, "it provides the request gate");
  if (own.peer_servers) return cannot_change(name, "it knows the peer servers");
  if (target.publishes_at_run_time) return cannot_change(name, "it publishes groups at run time");
  if (target.publishes_paths) return cannot_change(name, "it publishes paths at run time");
  return {};
}

// The generations in the order of `places`, which are indexes in `plan`; the changed plugin's generation is `next`.
std::vector<GenerationRef> in_order(const Plan& plan, const std::vector<std::size_t>& places, const std::vector<GenerationRef>& now,
                                    const PluginChange& change) {
  std::vector<GenerationRef> out;
  for (const auto i : places) {
    const std::string& name = plan.plugins[i].name();
    if (name == change.name) {
      out.push_back(change.next);
      continue;
    }
    const auto found = std::find_if(now.begin(), now.end(), [&](const auto& each) { return each->name() == name; });
    if (found != now.end()) out.push_back(*found);
  }
  return out;
}

}  // namespace

// Plugins keep objects of a plugin that they require: its stores below their views, for example.
Status PluginRegistry::check_alone(const PluginGeneration& generation) const {
  for (const auto& edge : plan_.edges) {
    const bool needs = edge.kind == PlanEdge::Kind::kRequires || edge.kind == PlanEdge::Kind::kOptional;
    if (!needs || plan_.plugins[edge.to].name() != generation.name()) continue;
    return cannot_change(generation.name(), "plugin " + backplane::quoted(plan_.plugins[edge.from].name()) + " requires it");
  }
  return check_replaceable(generation.name(), generation.rows(), *generation.target());
}

// The plan of the running plugins, with `file` in the place of `name`; it must include all of them.
Result<Plan> PluginRegistry::plan_with(const std::string& name, const InspectedPlugin* file) const {
  std::vector<InspectedPlugin> files;
  for (const auto& plugin : plan_.plugins) {
    if (plugin.state == PluginState::kCommitted && plugin.name() != name) files.push_back(plugin.inspected);
  }
  if (file != nullptr) files.push_back(*file);
  PlanOptions options = plan_options_;
  std::erase(options.disabled, name);
  Plan plan = plan_plugins(std::move(files), options);
  if (!plan.fatal.empty()) return cannot_change(name, lines(plan.fatal));
  for (const auto& plugin : plan.plugins) {
    if (!plugin.runs())
      return cannot_change(name, "plugin " + backplane::quoted(plugin.name()) + " could not run: " + lines(plugin.inspected.findings));
  }
  return plan;
}

Result<PluginChange> PluginRegistry::stage_withdrawal(const std::string& name) {
  PluginChange change;
  change.name = name;
  change.former = find(name);
  if (!change.former) return not_found("", "plugin", name);
  if (Status status = check_alone(*change.former); !status.ok()) return status;
  auto plan = plan_with(name, nullptr);
  if (!plan.ok()) return std::move(plan.status());
  change.plan = std::move(*plan);
  return change;
}

Result<PluginChange> PluginRegistry::stage_replacement(const std::string& name, const std::string& file) {
  PluginChange change;
  change.name = name;
  change.former = find(name);
  if (!change.former) return not_found("", "plugin", name);
  if (Status status = check_alone(*change.former); !status.ok()) return status;
  change.file = inspect_plugin(file);
  if (Status status = stage_next(change, file); !status.ok()) return status;
  return change;
}

Result<PluginChange> PluginRegistry::stage_addition(const std::string& name, const std::string& file) {
  if (find(name)) return Status(Reason::kConflict, "plugin " + backplane::quoted(name) + " runs already");
  PluginChange change;
  change.name = name;
  change.file = inspect_plugin(file);
  if (Status status = stage_next(change, file); !status.ok()) return status;
  return change;
}

Result<PluginChange> PluginRegistry::stage_rollback(const std::string& name) {
  PluginChange change;
  change.name = name;
  change.former = find(name);
  if (!change.former) return not_found("", "plugin", name);
  if (Status status = check_alone(*change.former); !status.ok()) return status;
  const auto build = former_builds_.find(name);
  if (build == former_builds_.end()) return cannot_change(name, "there is no former build of it");
  change.file = inspect_plugin(build->second.copy);
  if (Status status = stage_next(change, build->second.file); !status.ok()) return status;
  return change;
}

// Plans, maps and makes the plugin of `change.file`.
Status PluginRegistry::stage_next(PluginChange& change, const std::string& shown_file) {
  Findings& findings = change.file.findings;
  if (!change.file.descriptor || has_errors(findings)) return unusable(shown_file, findings);
  if (change.file.descriptor->name != change.name)
    return bad_request(shown_file + " is plugin " + backplane::quoted(change.file.descriptor->name) + ", not " +
                       backplane::quoted(change.name));
  auto plan = plan_with(change.name, &change.file);
  if (!plan.ok()) return std::move(plan.status());
  change.plan = std::move(*plan);
  if (!probe(change.file)) return unusable(shown_file, findings);
  LoadedPlugin loaded = load(change.file, findings);
  if (!loaded) return unusable(shown_file, findings);
  change.next = std::make_shared<PluginGeneration>(change.name, std::move(loaded), *services_, names_->without(change.name));
  const CallLimits limits{calls_, is_in_tree(change.name, shown_file) ? kNoLimit : options_.call_limit};
  for (const LifecycleCall* call : {&kConfigure, &kProvision, &kValidate}) {
    if (call_lifecycle(change.next, *call, *services_, limits, findings)) continue;
    Status failed = unusable(shown_file, findings);
    give_up(std::move(change));
    return failed;
  }
  change.file.path = shown_file;
  for (auto& plugin : change.plan.plugins) {
    if (plugin.name() == change.name) plugin.inspected = change.file;
  }
  return {};
}

Status PluginRegistry::commit(PluginChange& change, std::chrono::nanoseconds hooks_limit) {
  change.start_order = in_order(change.plan, change.plan.start_order, started_, change);
  change.chain = in_order(change.plan, change.plan.chain, chain_, change);
  if (change.next) {
    if (auto merged = merge_schemes(change.start_order); !merged.ok()) return std::move(merged.status());
    change.next->commit();
    if (Status status = check_replaceable(change.next->name(), change.next->rows(), *change.next->target()); !status.ok()) return status;
    // The server runs an added plugin's hooks when its resources are served, because they may wait for informers of these.
    if (change.former) {
      if (Status status = change.next->activate(hooks_limit); !status.ok()) return status;
    }
  }
  auto rows = collect_rows(change.start_order, change.chain);
  if (!rows.ok()) return std::move(rows.status());
  change.rows = std::move(*rows);
  return {};
}

void PluginRegistry::enter(PluginChange change) {
  if (change.former && change.next) keep_former(change);
  {
    const std::lock_guard lock(mutex_);
    for (auto& plugin : change.plan.plugins) plugin.state = PluginState::kCommitted;
    plan_ = std::move(change.plan);
    names_ = change.next ? change.next->names() : names_->without(change.name);
    started_ = std::move(change.start_order);
    chain_ = std::move(change.chain);
    rows_.set(std::move(change.rows));
    note_change(change);
  }
  if (change.next) {
    plugin_log().info("plugin {} plugin={} version={} file={}", change.former ? "replaced" : "added", change.name,
                      change.file.display_version(), change.file.path);
  } else {
    plugin_log().info("plugin withdrawn plugin={}", change.name);
  }
  change.next.reset();
  if (change.former) retire(std::move(change.former));
}

void PluginRegistry::give_up(PluginChange change) {
  change.rows.reset();
  change.start_order.clear();
  change.chain.clear();
  if (change.next) retire(std::move(change.next));
}

}  // namespace backplane
