// One plugin of a running server: replaced by another build, or withdrawn.
#include <algorithm>

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

// What the server takes from its plugins once, at the start.
Status check_replaceable(const std::string& name, const StagedRegistrations& own, const DelegationTarget& target) {
  if (!own.storage_backends.empty()) return cannot_change(name, "it provides a store");
  if (own.request_gate) return cannot_change(name, "it provides the request gate");
  if (own.peer_servers) return cannot_change(name, "it knows the peer servers");
  if (target.publishes_at_run_time) return cannot_change(name, "it publishes groups at run time");
  if (target.publishes_paths) return cannot_change(name, "it publishes paths at run time");
  return {};
}

// The generations in the order of `places`, an order of `plan`; the plugin that is changed is `next`.
std::vector<GenerationRef> in_order(const Plan& plan, const std::vector<std::size_t>& places, const std::vector<GenerationRef>& now,
                                    const PluginChange& change) {
  std::vector<GenerationRef> out;
  for (const auto i : places) {
    const std::string& name = plan.plugins[i].name();
    if (name == change.former->name()) {
      out.push_back(change.next);
      continue;
    }
    const auto found = std::find_if(now.begin(), now.end(), [&](const auto& each) { return each->name() == name; });
    if (found != now.end()) out.push_back(*found);
  }
  return out;
}

}  // namespace

// Others keep what they have got of a plugin that they require: its stores under their views, for example.
Status PluginRegistry::check_alone(const PluginGeneration& generation) const {
  for (const auto& edge : plan_.edges) {
    const bool needs = edge.kind == PlanEdge::Kind::kRequires || edge.kind == PlanEdge::Kind::kOptional;
    if (!needs || plan_.plugins[edge.to].name() != generation.name()) continue;
    return cannot_change(generation.name(), "plugin " + backplane::quoted(plan_.plugins[edge.from].name()) + " requires it");
  }
  return check_replaceable(generation.name(), generation.rows(), *generation.target());
}

// The plan of those that run, with `file` in the place of `name`; all of them must have a place in it.
Result<Plan> PluginRegistry::plan_with(const std::string& name, const InspectedPlugin* file) const {
  std::vector<InspectedPlugin> files;
  for (const auto& plugin : plan_.plugins) {
    if (plugin.state != PluginState::kCommitted) continue;
    if (plugin.name() != name) {
      files.push_back(plugin.inspected);
    } else if (file != nullptr) {
      files.push_back(*file);
    }
  }
  Plan plan = plan_plugins(std::move(files), plan_options_);
  if (!plan.fatal.empty()) return cannot_change(name, lines(plan.fatal));
  for (const auto& plugin : plan.plugins) {
    if (!plugin.runs())
      return cannot_change(name, "plugin " + backplane::quoted(plugin.name()) + " could not run: " + lines(plugin.inspected.findings));
  }
  return plan;
}

Result<PluginChange> PluginRegistry::stage_withdrawal(const std::string& name) {
  PluginChange change;
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
  change.former = find(name);
  if (!change.former) return not_found("", "plugin", name);
  if (Status status = check_alone(*change.former); !status.ok()) return status;
  InspectedPlugin inspected = inspect_plugin(file);
  if (!inspected.descriptor || has_errors(inspected.findings)) return unusable(file, inspected.findings);
  if (inspected.descriptor->name != name)
    return bad_request(file + " is plugin " + backplane::quoted(inspected.descriptor->name) + ", not " + backplane::quoted(name));
  auto plan = plan_with(name, &inspected);
  if (!plan.ok()) return std::move(plan.status());
  change.plan = std::move(*plan);
  LoadedPlugin loaded = load_plugin(inspected, *directory_, inspected.findings);
  if (!loaded) return unusable(file, inspected.findings);
  change.next = std::make_shared<PluginGeneration>(name, std::move(loaded), *services_, names_->without(name));
  for (const LifecycleCall* call : {&kConfigure, &kProvision, &kValidate}) {
    if (call_lifecycle(*change.next, *call, *services_, inspected.findings)) continue;
    give_up(std::move(change));
    return unusable(file, inspected.findings);
  }
  return change;
}

Status PluginRegistry::commit(PluginChange& change, std::chrono::nanoseconds hooks_limit) {
  change.start_order = in_order(change.plan, change.plan.start_order, started_, change);
  change.chain = in_order(change.plan, change.plan.chain, chain_, change);
  if (change.next) {
    if (auto merged = merge_schemes(change.start_order); !merged.ok()) return std::move(merged.status());
    change.next->commit();
    if (Status status = check_replaceable(change.next->name(), change.next->rows(), *change.next->target()); !status.ok()) return status;
    if (Status status = change.next->activate(hooks_limit); !status.ok()) return status;
  }
  auto rows = collect_rows(change.start_order, change.chain);
  if (!rows.ok()) return std::move(rows.status());
  change.rows = std::move(*rows);
  return {};
}

void PluginRegistry::enter(PluginChange change) {
  {
    const std::lock_guard lock(mutex_);
    for (auto& plugin : change.plan.plugins) plugin.state = PluginState::kCommitted;
    plan_ = std::move(change.plan);
    names_ = change.next ? change.next->names() : names_->without(change.former->name());
    started_ = std::move(change.start_order);
    chain_ = std::move(change.chain);
    rows_.set(std::move(change.rows));
  }
  plugin_log().info("plugin {} plugin={}", change.next ? "replaced" : "withdrawn", change.former->name());
  change.next.reset();
  retire(std::move(change.former));
}

void PluginRegistry::give_up(PluginChange change) {
  change.rows.reset();
  change.start_order.clear();
  change.chain.clear();
  if (change.next) retire(std::move(change.next));
}

// ---- generations that end

void PluginRegistry::retire(GenerationRef generation) {
  const std::lock_guard lock(retiring_mutex_);
  if (!unmapping_) {
    unmapping_.emplace("plugin-code", /*may_block=*/true);
    unmapping_->start();
  }
  ++retiring_;
  retirers_.emplace_back([this, generation = std::move(generation)]() mutable { end(std::move(generation)); });
}

void PluginRegistry::end(GenerationRef generation) {
  auto code = generation->retire(options_.limits, hurry_);
  const std::string name = generation->name();
  if (!code) {
    const std::lock_guard lock(retiring_mutex_);
    kept_.push_back(std::move(generation));
  } else {
    generation.reset();
    ended_.fetch_add(1);
    if (options_.limits.code <= std::chrono::nanoseconds::zero()) {
      unmap(name, *code);
    } else {
      auto later = std::make_shared<MappedCode>(std::move(*code));
      unmapping_->after(options_.limits.code, [this, name, later] { unmap(name, *later); });
    }
  }
  const std::lock_guard lock(retiring_mutex_);
  --retiring_;
  retired_.notify_all();
}

void PluginRegistry::unmap(const std::string& name, MappedCode& code) {
  if (code.unmap()) {
    plugin_details().info("the code of a former build has been unmapped plugin={}", name);
    unmapped_.fetch_add(1);
  } else {
    plugin_log().warn("the code of a former build is still in use, it stays mapped plugin={}", name);
  }
}

bool PluginRegistry::wait_retired(std::chrono::nanoseconds limit) {
  std::list<std::thread> ended;
  std::unique_lock lock(retiring_mutex_);
  if (!retired_.wait_for(lock, limit, [this] { return retiring_ == 0; })) return false;
  ended.swap(retirers_);
  lock.unlock();
  for (auto& thread : ended) thread.join();
  return true;
}

void PluginRegistry::hurry() { hurry_.fire(); }

}  // namespace backplane
