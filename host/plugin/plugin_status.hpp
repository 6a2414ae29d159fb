// The present state of a plugin, running or not: for `backplane plugin list --kubeconfig`, /debug/plugins and Plugin objects.
//
// Thread-safety: values.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plugin/placement.hpp"
#include "plugin/planner.hpp"
#include "runner/runner.hpp"

namespace backplane {

// The last change of a plugin since startup.
enum class PluginOperation : unsigned char { kNone, kReplaced, kEnabled, kDisabled };

struct PluginStatus {
  using Time = std::chrono::system_clock::time_point;

  std::string name;  // the file's name if the descriptor cannot be read
  std::string version, file, license, description;
  PluginState state = PluginState::kRejected;
  Time since = {};  // the start of the state, or of the build that runs
  PluginOperation last_operation = PluginOperation::kNone;
  unsigned build = 0;                       // the number of the build: 1 at startup, one more after each replacement; 0: no build has run
  std::string former_version;               // the version of the build that a rollback restores; empty: there is none
  std::vector<std::string> group_versions;  // the group versions that the plugin has installed: "apps/v1"
  std::vector<std::string> requires_;       // plugins and capabilities
  Findings findings;                        // findings of the plugin's file
  std::string refused;                      // why the last change of the plugin was refused; empty: it was not refused
  Time refused_at = {};
  bool in_tree = false;  // shipped with the server
  Placement placement = Placement::kInProcess;
  std::optional<runner::RunnerStatus> process = {};  // of a running build in a runner
  // Of the running build; 0 if none runs.
  std::size_t threads = 0, tasks = 0, open_watches = 0;
  std::size_t mapped_bytes = 0;          // address space of its code and its static data
  std::chrono::nanoseconds cpu_time{0};  // of its threads

  bool runs() const noexcept { return state == PluginState::kCommitted; }
};

// As state_name(); "Quarantined" for a plugin whose runner is in quarantine.
std::string_view state_text(const PluginStatus& status) noexcept;
Object status_to_json(const PluginStatus& status);
// NAME VERSION STATE BUILD PLACEMENT GROUPS FILE, and the reason of those that do not run.
std::string statuses_as_text(const Array& statuses);
double seconds_of(std::chrono::nanoseconds time);
// "in-process", "runner/1234" with the process id, "runner/-" while there is no process.
std::string placement_text(const PluginStatus& status);
// Why there is no process; empty: there is one, or it needs none.
std::string no_process_text(const PluginStatus& status);
// RFC 3339 in UTC, seconds.
std::string time_text(PluginStatus::Time time);

}  // namespace backplane
