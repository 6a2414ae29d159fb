#include "plugin/plugin_start.hpp"

#include <algorithm>

#include "base/fenced.hpp"
#include "plugin/in_tree.hpp"
#include "plugin/plugin_code.hpp"

namespace backplane {

const LifecycleCall kConfigure{"configure", "configure()", finding_code::kConfigureFailed, finding_code::kConfigureThrew};
const LifecycleCall kProvision{"provision", "provision()", finding_code::kProvisionFailed, finding_code::kProvisionThrew};
const LifecycleCall kValidate{"validate", "validate()", finding_code::kValidateFailed, finding_code::kValidateThrew};

namespace {

void fail(Findings& findings, std::string_view code, std::string field, std::string message) {
  findings.push_back({code, Severity::kError, std::move(field), {}, {}, std::move(message), {}});
}

Status make_call(PluginGeneration& generation, const LifecycleCall& what, HostServices& services) {
  if (&what == &kConfigure) return generation.plugin().configure(services.settings.configuration(generation.name()));
  return &what == &kProvision ? generation.plugin().provision(generation.host()) : generation.plugin().validate();
}

}  // namespace

Finding timed_out(std::string_view field, std::string_view call, std::chrono::nanoseconds limit) {
  const auto seconds = std::chrono::duration<double>(limit).count();
  std::string text = std::to_string(seconds);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return {finding_code::kCallTimedOut,
          Severity::kError,
          std::string(field),
          {},
          {},
          std::string(call) + " has not returned within " + text + " s",
          "see --plugin-call-timeout"};
}

bool call_lifecycle(const GenerationRef& generation, const LifecycleCall& what, HostServices& services, const CallLimits& limits,
                    Findings& findings) {
  const auto made = std::make_shared<FencedCall>();
  const auto ended = std::make_shared<NamedSignal>("ended");
  const auto call = [made, ended, generation, &what, &services] {
    {
      const LifecycleCallScope running(generation->name(), what.shown);
      *made = fenced_status([&] { return make_call(*generation, what, services); });
    }
    ended->fire();
  };
  if (limits.limit <= kNoLimit) {
    call();
  } else if (!limits.thread.run(call, limits.limit)) {
    generation->note_call_given_up(ended);
    findings.push_back(timed_out(what.name, what.shown, limits.limit));
    return false;
  }
  const FencedCall& result = *made;
  if (result.status.ok()) return true;
  std::string message = std::string(what.name) + "() " + (result.threw ? "threw: " : "failed: ") + result.status.message();
  const bool duplicate = !result.threw && result.status.reason() == Reason::kAlreadyExists;
  const auto code = duplicate ? finding_code::kDuplicateRegistration : result.threw ? what.threw : what.failed;
  fail(findings, code, what.name, std::move(message));
  return false;
}

void PluginStart::run() {
  while (!start_next() || !validate_next() || !merges()) {
    if (!plan_.fatal.empty()) return;
  }
  for (const auto i : plan_.start_order) {
    running_.at(i)->use_names(*registry_.names_);  // one set for all, instead of one for each step of the startup
    running_.at(i)->commit();
    registry_.started_.push_back(running_.at(i));
    plan_.plugins[i].state = PluginState::kCommitted;
  }
  for (const auto i : plan_.chain) registry_.chain_.push_back(running_.at(i));
}

// Configures and provisions the plugins that do not run yet; false if one failed or could not be mapped.
bool PluginStart::start_next() {
  for (const auto i : plan_.start_order) {
    if (!running_.contains(i) && !start(i)) {
      take_out(i);
      return false;
    }
  }
  return true;
}

bool PluginStart::start(std::size_t i) {
  LoadedPlugin loaded = std::move(registry_.opened_[i]);
  if (!loaded) return false;
  auto& planned = plan_.plugins[i];
  auto& services = *registry_.services_;
  const auto generation = std::make_shared<PluginGeneration>(planned.name(), std::move(loaded), services, *registry_.names_);
  running_[i] = generation;
  started_.push_back(i);
  auto& findings = planned.inspected.findings;
  const CallLimits limits = limits_of(planned);
  const bool made = call_lifecycle(generation, kConfigure, services, limits, findings) &&
                    call_lifecycle(generation, kProvision, services, limits, findings);
  if (made) registry_.names_ = generation->names();
  return made;
}

// Plugins of this tree have no time limit, because the server needs them.
CallLimits PluginStart::limits_of(const PlannedPlugin& plugin) {
  const bool trusted = is_in_tree(plugin.name(), plugin.inspected.path);
  return {registry_.calls_, trusted ? kNoLimit : registry_.options_.call_limit};
}

bool PluginStart::validate_next() {
  for (const auto i : plan_.start_order) {
    if (validated_[i]) continue;
    auto& planned = plan_.plugins[i];
    validated_[i] = call_lifecycle(running_.at(i), kValidate, *registry_.services_, limits_of(planned), planned.inspected.findings);
    if (validated_[i]) continue;
    take_out(i);
    return false;
  }
  return true;
}

// Makes a new plan without `i`, and rolls back, in reverse order, the plugins that it excludes.
void PluginStart::take_out(std::size_t i) {
  plan_.plugins[i].state = PluginState::kFailed;
  replan(plan_, registry_.plan_options_);
  const auto started = started_;
  for (auto at = started.rbegin(); at != started.rend(); ++at) {
    if (plan_.plugins[*at].runs()) continue;
    running_.erase(*at);
    std::erase(started_, *at);
    registry_.names_->release(plan_.plugins[*at].name());
  }
}

// Kinds that are registered twice are detected only here; the failing plugin is removed before any registration is published.
bool PluginStart::merges() {
  std::vector<GenerationRef> order;
  for (const auto i : plan_.start_order) order.push_back(running_.at(i));
  GenerationRef culprit;
  const auto merged = merge_schemes(order, &culprit);
  if (merged.ok()) return true;
  for (const auto& [i, generation] : running_) {
    if (generation != culprit) continue;
    fail(plan_.plugins[i].inspected.findings, finding_code::kDuplicateRegistration, "scheme",
         "registers a kind twice: " + merged.status().message());
    culprit.reset();
    order.clear();
    take_out(i);
    break;
  }
  return false;
}

}  // namespace backplane
