// Plugins of the registry that run in runner processes.
#include <algorithm>

#include "plugin/log.hpp"
#include "plugin/plugin_registry.hpp"

namespace backplane {
namespace {

// The time limit of a runner, in percent of the time limit of the call that waits for the runner. The runner's limit must end first: the
// error is then the runner's, and no thread of this process stays blocked.
constexpr int kShareOfLimit = 90;
constexpr std::chrono::minutes kWithoutLimit{10};

Finding not_in_a_runner(const std::string& plugin) {
  return {finding_code::kWrongPlacement,
          Severity::kError,
          "--plugin-placement",
          {},
          plugin,
          "the plugin is of the native tier, which runs in the server's process only",
          "leave the flag out for it, or build it for the stable tier (docs/stable-tier.md)"};
}

}  // namespace

bool PluginRegistry::in_runner(const std::string& name) const { return placement_of(options_.placements, name) == Placement::kRunner; }

// Checks the plan, before any plugin is loaded.
void PluginRegistry::check_placements() {
  for (const auto& [key, placement] : options_.placements) {
    bool known = false;
    for (const auto& plugin : plan_.plugins) {
      if (!places(key, plugin.name())) continue;
      known = true;
      const auto& descriptor = plugin.inspected.descriptor;
      if (plugin.runs() && descriptor && !descriptor->is_stable() && placement == Placement::kRunner) {
        plan_.fatal.push_back(not_in_a_runner(plugin.name()));
      }
    }
    if (known) continue;
    general_.push_back(
        {finding_code::kWrongPlacement, Severity::kWarning, "--plugin-placement", {}, key, "there is no plugin of this name", {}});
  }
}

LoadedPlugin PluginRegistry::load_into_runner(const InspectedPlugin& file, Findings& findings) {
  if (!file.descriptor->is_stable()) {
    findings.push_back(not_in_a_runner(file.display_name()));
    return {};
  }
  const std::string name = file.display_name(), version = file.display_version();
  runner::RunnerOptions options;
  options.program = options_.probe_program;
  options.plugin = name;
  options.version = version;
  options.shown_file = file.path;
  options.limits.lifecycle = options_.call_limit > kNoCallLimit ? options_.call_limit * kShareOfLimit / 100 : kWithoutLimit;
  options.limits.request = options_.runner_limit / 5;
  options.limits.waiting = options_.runner_limit;
  options.limits.longest = options_.runner_limit * 6;
  options.output = [name, version](std::string_view line) { plugin_log().info("{} plugin={} version={}", line, name, version); };
  PluginCrash record;
  record.plugin = name;
  record.version = version;
  record.file = file.path;
  const auto digest = digests_.find(file.path);
  if (digest != digests_.end()) record.digest = digest->second;
  options.quarantine = [this, record](const runner::Crash& crash) { return note_runner_crash(record, crash); };
  options.changed = [this] {
    const std::lock_guard lock(runner_change_mutex_);
    if (on_runner_change_) on_runner_change_();
  };
  return load_in_runner(file, *directory_, std::move(options), findings);
}

// Called when the processes of a runner have ended too often. Returns the time until which no process is started; a restarted server leaves
// the plugin out until then.
std::chrono::system_clock::time_point PluginRegistry::note_runner_crash(PluginCrash record, const runner::Crash& crash) {
  record.signal = crash.how;
  record.place = crash.place;
  record.call = crash.calls;
  record.thread = "runner";
  record.time = crash.time;
  const std::lock_guard lock(history_mutex_);
  return history_.note_crash(std::move(record));
}

void PluginRegistry::clear_quarantine(const std::string& name) {
  const std::lock_guard lock(history_mutex_);
  history_.clear_quarantine(name);
}

void PluginRegistry::note_started() {
  const std::lock_guard lock(history_mutex_);
  history_.end_startup();
}

void PluginRegistry::on_runner_change(std::function<void()> callback) {
  const std::lock_guard lock(runner_change_mutex_);
  on_runner_change_ = std::move(callback);
}

}  // namespace backplane
