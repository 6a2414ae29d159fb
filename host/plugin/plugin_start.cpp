#include "plugin/plugin_start.hpp"

#include <algorithm>

#include "base/fenced.hpp"
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

bool call_lifecycle(PluginGeneration& generation, const LifecycleCall& what, HostServices& services, Findings& findings) {
  const LifecycleCallScope running(generation.name(), what.shown);
  const auto result = fenced_status([&] { return make_call(generation, what, services); });
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
    running_.at(i)->commit();
    registry_.started_.push_back(running_.at(i));
    plan_.plugins[i].state = PluginState::kCommitted;
  }
  for (const auto i : plan_.chain) registry_.chain_.push_back(running_.at(i));
}

// Configure and provision what is not running yet; false when one failed, or could not be mapped.
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
  const bool made =
      call_lifecycle(*generation, kConfigure, services, findings) && call_lifecycle(*generation, kProvision, services, findings);
  if (made) registry_.names_ = generation->names();
  return made;
}

bool PluginStart::validate_next() {
  for (const auto i : plan_.start_order) {
    if (validated_[i]) continue;
    validated_[i] = call_lifecycle(*running_.at(i), kValidate, *registry_.services_, plan_.plugins[i].inspected.findings);
    if (validated_[i]) continue;
    take_out(i);
    return false;
  }
  return true;
}

// Makes a new plan without `i`, and rolls back in reverse what no longer has a place in it.
void PluginStart::take_out(std::size_t i) {
  plan_.plugins[i].state = PluginState::kFailed;
  replan(plan_, registry_.plan_options_);
  const auto started = started_;
  for (auto at = started.rbegin(); at != started.rend(); ++at) {
    if (plan_.plugins[*at].runs()) continue;
    running_.erase(*at);
    std::erase(started_, *at);
    registry_.names_->give_back(plan_.plugins[*at].name());
  }
}

// Kinds registered twice show only here; what fails comes out before anything has been handed over.
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
