// Plugins with valid descriptors that are not loaded: in safe mode, after a crash, after a failed probe.
#include <algorithm>

#include "backplane/core/meta.hpp"
#include "plugin/content_digest.hpp"
#include "plugin/in_tree.hpp"
#include "plugin/log.hpp"
#include "plugin/plugin_code.hpp"
#include "plugin/plugin_registry.hpp"
#include "plugin/probe.hpp"

namespace backplane {
namespace {

// Number of crashed startups within five minutes that switches safe mode on.
constexpr std::size_t kCrashedStartups = 3;
// Concurrent child processes.
constexpr std::size_t kProbes = 16;

Finding left_out(std::string_view code, std::string field, std::string message, std::string fix) {
  return {code, Severity::kWarning, std::move(field), {}, {}, std::move(message), std::move(fix)};
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string until_text(const PluginCrash& crash) { return format_rfc3339(std::chrono::system_clock::to_time_t(crash.until)); }

}  // namespace

bool PluginRegistry::must_run(const std::string& name) const {
  return contains(plan_options_.required, name) || plan_options_.required_by_flags.contains(name);
}

void PluginRegistry::leave_out(std::vector<InspectedPlugin>& files) {
  const std::size_t crashed = history_.begin_startup();
  safe_mode_ = options_.safe_mode || crashed >= kCrashedStartups;
  if (safe_mode_) {
    plugin_log().warn("safe mode: only the plugins that are shipped with the server are loaded reason={:?}",
                      options_.safe_mode ? "--safe-mode" : std::to_string(crashed) + " crashes during startup within five minutes");
  }
  if (const auto& crash = history_.last_crash()) {
    plugin_log().warn("the former run has crashed plugin={} {}", crash->plugin.empty() ? "none" : crash->plugin, crash_text(*crash));
  }
  for (auto& file : files) {
    if (!file.descriptor || is_in_tree(file.descriptor->name, file.path)) continue;
    if (!safe_mode_) {
      leave_out_crashed(file);
      continue;
    }
    // Only the administrator's --safe-mode leaves out a plugin without which the server must not run.
    if (!options_.safe_mode && must_run(file.descriptor->name)) {
      plugin_log().warn("the plugin is loaded in safe mode, because it must run plugin={}", file.descriptor->name);
      continue;
    }
    plan_options_.disabled.push_back(file.descriptor->name);
    std::erase(plan_options_.required, file.descriptor->name);
    file.findings.push_back(left_out(finding_code::kSafeMode, "safe mode", "the plugin is left out: the server runs in safe mode",
                                     "start the server without --safe-mode"));
  }
}

// A required plugin is loaded anyway: the server would not start without it.
void PluginRegistry::leave_out_crashed(InspectedPlugin& file) {
  const std::string& name = file.descriptor->name;
  const auto digest = content_digest(file.path);
  if (!digest) return;
  digests_[file.path] = *digest;
  const PluginCrash* crash = history_.quarantine_of(name, *digest);
  if (crash == nullptr) return;
  if (must_run(name)) {
    plugin_log().warn("the plugin is loaded although {}, because it must run plugin={}", crash_text(*crash), name);
    return;
  }
  plan_options_.disabled.push_back(name);
  file.findings.push_back(
      left_out(finding_code::kQuarantined, "quarantine", "the plugin is left out until " + until_text(*crash) + ": " + crash_text(*crash),
               "repair the file; a file with other bytes is loaded, and so is this one by backplane plugin enable " + name));
}

// Probes the plugins of the plan that have not passed a probe, several at a time.
void PluginRegistry::probe_new_files() {
  if (options_.probe_program.empty()) return;
  std::vector<InspectedPlugin*> files;
  for (const auto i : plan_.start_order) {
    auto& file = plan_.plugins[i].inspected;
    const auto digest = digests_.find(file.path);
    if (in_runner(file.descriptor->name)) continue;  // a crash ends only the runner
    if (digest != digests_.end() && !history_.has_probed(digest->second)) files.push_back(&file);
  }
  std::vector<std::string> passed;
  for (std::size_t at = 0; at < files.size(); at += kProbes) {
    const std::size_t end = std::min(files.size(), at + kProbes);
    std::vector<std::unique_ptr<Probe>> probes;
    for (std::size_t i = at; i < end; ++i) probes.push_back(std::make_unique<Probe>(options_.probe_program, files[i]->path));
    for (std::size_t i = at; i < end; ++i) {
      auto finding = probes[i - at]->wait(options_.probe_limit);
      if (finding) {
        files[i]->findings.push_back(std::move(*finding));
      } else {
        passed.push_back(digests_.at(files[i]->path));
      }
    }
  }
  history_.note_probed(std::move(passed));
}

// Probes a file that is to be loaded into the running server.
bool PluginRegistry::probe(InspectedPlugin& file) {
  const std::string& name = file.descriptor->name;
  if (is_in_tree(name, file.path)) return true;
  const auto digest = content_digest(file.path);
  if (!digest) return true;  // the loader reports the reason
  digests_[file.path] = *digest;
  if (options_.probe_program.empty() || in_runner(name) || history_.has_probed(*digest)) return true;
  Probe child(options_.probe_program, file.path);
  if (auto finding = child.wait(options_.probe_limit)) {
    file.findings.push_back(std::move(*finding));
    return false;
  }
  const std::lock_guard lock(history_mutex_);
  history_.note_probed({*digest});
  return true;
}

}  // namespace backplane
