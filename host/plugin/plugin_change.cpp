// One plugin of a running server: replaced by another build, withdrawn, or added; and the plugins that depend on it.
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

Status unusable(const std::string& file, const Findings& findings) {
  const auto copy_failed = [](const Finding& finding) { return finding.code == finding_code::kCannotCopy; };
  const bool own_fault = std::any_of(findings.begin(), findings.end(), copy_failed);  // a full disk, for example
  return Status(own_fault ? Reason::kInternalError : Reason::kBadRequest, file + ": " + lines(findings));
}

// Registrations that the server reads only once, at startup.
Status check_replaceable(const std::string& name, const StagedRegistrations& own, const DelegationTarget& target) {
  if (!own.storage_backends.empty()) return cannot_change(name, "it provides a store");
  if (own.request_gate) return cannot_change(name, "it provides the request gate");
  if (own.peer_servers) return cannot_change(name, "it registers the peer servers");
  if (target.publishes_at_run_time) return cannot_change(name, "it publishes groups at run time");
  if (target.publishes_paths) return cannot_change(name, "it publishes paths at run time");
  return {};
}

// The generations of the plugins at `places` (indexes in `plan`). For a plugin of the change it is the next generation.
std::vector<GenerationRef> in_order(const Plan& plan, const std::vector<std::size_t>& places, const std::vector<GenerationRef>& now,
                                    const PluginChange& change) {
  std::vector<GenerationRef> out;
  for (const auto i : places) {
    const std::string& name = plan.plugins[i].name();
    const auto part = std::find_if(change.parts.begin(), change.parts.end(), [&](const auto& each) { return each.name == name; });
    if (part != change.parts.end()) {
      out.push_back(part->next);
      continue;
    }
    const auto found = std::find_if(now.begin(), now.end(), [&](const auto& each) { return each->name() == name; });
    if (found != now.end()) out.push_back(*found);
  }
  return out;
}

// Marks each plugin that depends on a marked one, directly or through others. `optional_too`: also if the requirement is optional.
void mark_dependants(const Plan& plan, std::vector<bool>& marked, bool optional_too) {
  for (bool more = true; more;) {
    more = false;
    for (const auto& edge : plan.edges) {
      const bool needs = edge.kind == PlanEdge::Kind::kRequires || (optional_too && edge.kind == PlanEdge::Kind::kOptional);
      if (!needs || marked[edge.from] || !marked[edge.to]) continue;
      marked[edge.from] = more = true;
    }
  }
}

std::vector<bool> marked_name(const Plan& plan, const std::string& name) {
  std::vector<bool> marked(plan.plugins.size());
  for (std::size_t i = 0; i < marked.size(); ++i) {
    marked[i] = plan.plugins[i].state == PluginState::kCommitted && plan.plugins[i].name() == name;
  }
  return marked;
}

// The names, quoted and separated by commas.
std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const auto& name : names) out += (out.empty() ? "" : ", ") + backplane::quoted(name);
  return out;
}

}  // namespace

std::string PluginChange::dependants(bool withdrawn) const {
  std::string out;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if ((parts[i].next == nullptr) == withdrawn) out += (out.empty() ? "" : ", ") + parts[i].name;
  }
  return out;
}

// ---- what a change consists of

// The plugin and its dependants, in the order in which they were started.
Result<PluginChange> PluginRegistry::begin_change(const std::string& name) const {
  PluginChange change;
  change.name = name;
  auto marked = marked_name(plan_, name);
  mark_dependants(plan_, marked, true);
  for (const auto i : plan_.start_order) {
    if (!marked[i]) continue;
    const std::string& part = plan_.plugins[i].name();
    if (auto generation = find(part)) change.parts.push_back({part, std::move(generation), nullptr});
  }
  if (change.parts.empty() || change.of_name().name != name) {
    if (status_of(name)) return cannot_change(name, "it does not run; `backplane plugin enable` starts it");
    return not_found("", "plugin", name);
  }
  if (Status status = check_parts(change); !status.ok()) return status;
  return change;
}

Status PluginRegistry::check_parts(const PluginChange& change) const {
  for (const auto& part : change.parts) {
    Status status = check_replaceable(part.name, part.former->rows(), *part.former->target());
    if (status.ok()) continue;
    if (part.name == change.name) return status;
    return cannot_change(change.name, "plugin " + backplane::quoted(part.name) + " requires it; " + status.message());
  }
  return {};
}

// The names of the plugins that cannot run without `name`, in start order.
std::vector<std::string> PluginRegistry::dependants_of(const std::string& name) const {
  auto marked = marked_name(plan_, name);
  mark_dependants(plan_, marked, false);
  std::vector<std::string> out;
  for (const auto i : plan_.start_order) {
    if (marked[i] && plan_.plugins[i].name() != name) out.push_back(plan_.plugins[i].name());
  }
  return out;
}

// Why the plugins of `files` cannot run together.  The plugins that do not run are planned as disabled ones, so that the text names those
// that are required.
Status PluginRegistry::incompatibility(const std::string& name, std::vector<InspectedPlugin> files, PlanOptions options) const {
  const auto is_planned = [&](const std::string& plugin) {
    return std::any_of(files.begin(), files.end(), [&](const auto& file) { return file.descriptor->name == plugin; });
  };
  for (const PluginStatus& status : statuses()) {
    if (status.runs() || is_planned(status.name)) continue;
    InspectedPlugin file = inspect_plugin(status.file);
    if (!file.descriptor || is_planned(file.descriptor->name)) continue;
    options.disabled.push_back(file.descriptor->name);
    files.push_back(std::move(file));
  }
  const Plan plan = plan_plugins(std::move(files), options);
  if (!plan.fatal.empty()) return cannot_change(name, lines(plan.fatal));
  for (const auto& plugin : plan.plugins) {
    if (plugin.runs() || plugin.state == PluginState::kDisabled) continue;
    return cannot_change(name, "plugin " + backplane::quoted(plugin.name()) + " could not run: " + lines(plugin.inspected.findings));
  }
  return cannot_change(name, "the plugins could not run together");
}

// The plan of the running plugins, with the files of the change in the place of its parts; it must include all of them.
Result<Plan> PluginRegistry::plan_with(const PluginChange& change) const {
  const auto changes = [&](const std::string& plugin) {
    return std::any_of(change.parts.begin(), change.parts.end(), [&](const auto& part) { return part.name == plugin; });
  };
  std::vector<InspectedPlugin> files;
  for (const auto& plugin : plan_.plugins) {
    if (plugin.state == PluginState::kCommitted && !changes(plugin.name())) files.push_back(plugin.inspected);
  }
  for (const auto& part : change.parts) {
    if (part.file.descriptor) files.push_back(part.file);
  }
  // A plugin that startup has disabled may have been enabled since then.
  PlanOptions options = plan_options_;
  for (const auto& file : files) std::erase(options.disabled, file.descriptor->name);
  Plan plan = plan_plugins(files, options);
  const bool all_run = std::all_of(plan.plugins.begin(), plan.plugins.end(), [](const PlannedPlugin& plugin) { return plugin.runs(); });
  if (plan.fatal.empty() && all_run) return plan;
  return incompatibility(change.name, std::move(files), std::move(options));
}

Status PluginRegistry::use_file(PluginChange& change, const std::string& file, const std::string& shown_file) {
  InspectedPlugin& inspected = change.parts.front().file;
  inspected = inspect_plugin(file);
  if (!inspected.descriptor || has_errors(inspected.findings)) return unusable(shown_file, inspected.findings);
  change.parts.front().shown_file = shown_file;
  if (inspected.descriptor->name == change.name) return {};
  return bad_request(shown_file + " is plugin " + backplane::quoted(inspected.descriptor->name) + ", not " +
                     backplane::quoted(change.name));
}

// A dependant gets a new generation of the build that runs, from its private copy if the file has changed.
Status PluginRegistry::keep_build(PluginChange::Part& part) const {
  const auto status = status_of(part.name);
  const std::string shown_file = status ? status->file : part.former->copy();
  part.file = inspect_plugin(runs_file(part.name, shown_file) ? shown_file : part.former->copy());
  if (!part.file.descriptor || has_errors(part.file.findings)) return unusable(shown_file, part.file.findings);
  part.shown_file = shown_file;
  return {};
}

Result<PluginChange> PluginRegistry::stage_withdrawal(const std::string& name, bool cascade) {
  auto change = begin_change(name);
  if (!change.ok()) return change;
  const auto dependants = dependants_of(name);
  if (!dependants.empty() && !cascade) {
    const bool one = dependants.size() == 1;
    return Status(Reason::kConflict, "plugin " + backplane::quoted(name) + " is not disabled: " + (one ? "plugin " : "plugins ") +
                                         joined(dependants) + (one ? " requires it; disable it" : " require it; disable them") +
                                         " first, or together with it: --cascade");
  }
  for (auto part = change->parts.begin() + 1; part != change->parts.end(); ++part) {
    if (std::find(dependants.begin(), dependants.end(), part->name) != dependants.end()) continue;
    if (Status status = keep_build(*part); !status.ok()) return status;
  }
  if (Status status = stage_parts(*change); !status.ok()) return status;
  return change;
}

Result<PluginChange> PluginRegistry::stage_replacement(const std::string& name, const std::string& file) {
  auto change = begin_change(name);
  if (!change.ok()) return change;
  Status status = use_file(*change, file, file);
  if (status.ok()) status = stage_parts(*change);
  if (!status.ok()) return status;
  return change;
}

Result<PluginChange> PluginRegistry::stage_addition(const std::string& name, const std::string& file) {
  if (find(name)) return Status(Reason::kConflict, "plugin " + backplane::quoted(name) + " runs already");
  PluginChange change;
  change.name = name;
  change.parts.push_back({name, nullptr, nullptr});
  Status status = use_file(change, file, file);
  if (status.ok()) status = stage_parts(change);
  if (!status.ok()) return status;
  return change;
}

Result<PluginChange> PluginRegistry::stage_rollback(const std::string& name) {
  auto change = begin_change(name);
  if (!change.ok()) return change;
  const auto build = former_builds_.find(name);
  if (build == former_builds_.end()) return cannot_change(name, "there is no former build of it");
  Status status = use_file(*change, build->second.copy, build->second.file);
  if (status.ok()) status = stage_parts(*change);
  if (!status.ok()) return status;
  return change;
}

// ---- staging

// Plans, maps and makes the plugins of a change, each after those that it requires: while a dependant is provisioned, the host returns the
// objects of the new build.
Status PluginRegistry::stage_parts(PluginChange& change) {
  const bool withdrawal = !change.of_name().file.descriptor;
  for (auto part = change.parts.begin() + 1; part != change.parts.end() && !withdrawal; ++part) {
    if (Status status = keep_build(*part); !status.ok()) return status;
  }
  auto plan = plan_with(change);
  if (!plan.ok()) return std::move(plan.status());
  change.plan = std::move(*plan);
  TakenNames names = *names_;
  for (const auto& part : change.parts) names.release(part.name);
  for (auto& part : change.parts) {
    if (!part.file.descriptor) continue;
    if (Status status = stage_part(part, names); !status.ok()) {
      if (part.name != change.name) {
        status.set_message("plugin " + backplane::quoted(part.name) +
                           ", which depends on it, could not be reloaded with it: " + status.message());
      }
      abandon_change(std::move(change));
      return status;
    }
    names = part.next->names();
    part.file.path = part.shown_file;
    for (auto& plugin : change.plan.plugins) {
      if (plugin.name() == part.name) plugin.inspected = part.file;
    }
  }
  change.names = std::move(names);
  return {};
}

Status PluginRegistry::stage_part(PluginChange::Part& part, const TakenNames& names) {
  Findings& findings = part.file.findings;
  const std::string& shown_file = part.shown_file;
  if (!probe(part.file)) return unusable(shown_file, findings);
  LoadedPlugin loaded = load(part.file, findings);
  if (!loaded) return unusable(shown_file, findings);
  part.next = std::make_shared<PluginGeneration>(part.name, std::move(loaded), *services_, names);
  const CallLimits limits{calls_, is_in_tree(part.name, shown_file) ? kNoLimit : options_.call_limit};
  for (const LifecycleCall* call : {&kConfigure, &kProvision, &kValidate}) {
    if (!call_lifecycle(part.next, *call, *services_, limits, findings)) return unusable(shown_file, findings);
  }
  return {};
}

// ---- into service

Status PluginRegistry::commit(PluginChange& change, std::chrono::nanoseconds hooks_limit) {
  change.start_order = in_order(change.plan, change.plan.start_order, started_, change);
  change.chain = in_order(change.plan, change.plan.chain, chain_, change);
  if (auto merged = merge_schemes(change.start_order); !merged.ok()) return std::move(merged.status());
  for (const auto& part : change.parts) {
    if (!part.next) continue;
    part.next->commit();
    if (Status status = check_replaceable(part.name, part.next->rows(), *part.next->target()); !status.ok()) return status;
  }
  // The server runs an added plugin's hooks when its resources are served, because they may wait for informers of these.
  if (!change.is_addition()) {
    if (Status status = run_hooks(change, hooks_limit); !status.ok()) return status;
  }
  auto rows = collect_rows(change.start_order, change.chain);
  if (!rows.ok()) return std::move(rows.status());
  change.rows = std::move(*rows);
  return {};
}

// While the hooks of a new generation run, find_storage() returns the storages of the new generations and not of the former ones, because
// the hooks may keep them.
Status PluginRegistry::run_hooks(const PluginChange& change, std::chrono::nanoseconds limit) {
  auto targets = std::make_shared<UnpublishedTargets>();
  for (const auto& part : change.parts) {
    if (part.next) targets->next.push_back(part.next->target());
    if (part.former) targets->former.push_back(part.former->target());
  }
  for (const auto& part : change.parts) {
    if (part.next) part.next->host().set_unpublished_targets(targets);
  }
  for (const auto& part : change.parts) {
    if (!part.next) continue;
    Status status = part.next->activate(limit);
    if (status.ok()) continue;
    if (part.name != change.name) status.set_message("plugin " + backplane::quoted(part.name) + ": " + status.message());
    return status;
  }
  return {};
}

void PluginRegistry::clear_unpublished_targets(const PluginChange& change) {
  for (const auto& part : change.parts) {
    if (part.next) part.next->host().set_unpublished_targets(nullptr);
  }
}

void PluginRegistry::enter(PluginChange change) {
  clear_unpublished_targets(change);
  // A dependant's build stays the same, so a rollback of it returns to the same build as before.
  if (const auto& first = change.of_name(); first.former && first.next) keep_former(first);
  {
    const std::lock_guard lock(mutex_);
    for (auto& plugin : change.plan.plugins) plugin.state = PluginState::kCommitted;
    plan_ = std::move(change.plan);
    names_ = std::move(change.names);
    started_ = std::move(change.start_order);
    chain_ = std::move(change.chain);
    rows_.set(std::move(change.rows));
    for (const auto& part : change.parts) note_change(part);
  }
  std::vector<GenerationRef> former;
  for (auto part = change.parts.rbegin(); part != change.parts.rend(); ++part) {
    if (part->former) former.push_back(std::move(part->former));
  }
  for (auto& part : change.parts) {
    const std::string because = part.name == change.name ? "" : " with=" + change.name;
    if (part.next) {
      plugin_log().info("plugin {} plugin={} version={} file={}{}", former.empty() ? "added" : "replaced", part.name,
                        part.file.display_version(), part.file.path, because);
    } else {
      plugin_log().info("plugin withdrawn plugin={}{}", part.name, because);
    }
    part.next.reset();
  }
  retire(std::move(former));
}

void PluginRegistry::abandon_change(PluginChange change) {
  clear_unpublished_targets(change);
  change.rows.reset();
  change.start_order.clear();
  change.chain.clear();
  std::vector<GenerationRef> staged;
  for (auto part = change.parts.rbegin(); part != change.parts.rend(); ++part) {
    if (part->next) staged.push_back(std::move(part->next));
  }
  change.parts.clear();
  retire(std::move(staged));
}

}  // namespace backplane
