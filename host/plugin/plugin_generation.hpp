// One running build of a plugin, and everything that it has: its mapped code, the Plugin object, its face of the host, its threads, tasks
// and stop signal, and what it has registered.
//
//   made → staged → commit() → [activate()] → in service → retire() → destroyed, its code unmapped
//
// What it has registered is tied to it (base/hold.hpp): a request that uses any of it holds the generation, without a count of its own.
// retire() waits for those holds.
//
// Thread-safety: the steps by one thread at a time; name(), executor() and hold() from any thread.
// Lifetime:      shared by the registry and the steps that are under way; destroyed with its code still mapped unless retire() has
// succeeded. Errors:        of the plugin: its Status; an exception is one, too.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/hold.hpp"
#include "base/loop_set.hpp"
#include "base/signal.hpp"
#include "base/task_group.hpp"
#include "plugin/loader.hpp"
#include "plugin/staging_host.hpp"

namespace backplane {

// How long the parts of an end may take.
struct RetireLimits {
  std::chrono::nanoseconds pre_shutdown = std::chrono::seconds(60);  // each hook
  std::chrono::nanoseconds requests = std::chrono::seconds(75);      // that began with it
  std::chrono::nanoseconds tasks = std::chrono::seconds(10);
  std::chrono::nanoseconds loops = std::chrono::seconds(2);
  // From the end of the plugin's objects to the end of its code: bytes of its read-only data may still be on their way to a client.
  std::chrono::nanoseconds code = std::chrono::seconds(60);
};

class PluginGeneration {
 public:
  // `names`: those that other plugins and the host have; what this one registers is added.
  PluginGeneration(std::string name, LoadedPlugin loaded, HostServices& services, TakenNames names);
  ~PluginGeneration();
  PluginGeneration(const PluginGeneration&) = delete;
  PluginGeneration& operator=(const PluginGeneration&) = delete;

  const std::string& name() const noexcept { return name_; }
  Plugin& plugin() noexcept { return *loaded_.plugin; }
  StagingHost& host() noexcept { return *host_; }
  Executor& executor() { return loops_->of(name_); }
  const TakenNames& names() const noexcept { return names_; }
  Hold hold() const noexcept { return hold_; }

  // Everything that was registered is in rows() from here on; its tasks start.
  void commit();
  const StagedRegistrations& rows() const noexcept { return rows_; }
  TargetRef target() const noexcept { return target_; }
  // What the factory of an admission plugin makes, made at the first call for a name.
  Result<std::shared_ptr<const AdmissionPlugin>> admission(const AdmissionRegistration& registration, const AdmissionPluginConfig& config);

  void start_loops() { loops_->start(); }
  // Runs the post-start hooks: for a plugin that comes while the server runs.  Errors: that of the first hook that fails.
  Status activate(std::chrono::nanoseconds limit);

  // ---- the end
  // Tells the tasks to end; they get no new ones.
  void stop_tasks();
  TaskGroup& tasks() noexcept { return tasks_; }
  // Names of the executors that do not end within `limit`.
  std::vector<std::string> stop_loops(std::chrono::nanoseconds limit) { return loops_->stop(limit); }
  // After nothing refers to it any more in the tables of the server: runs the pre-shutdown hooks, ends its watches, waits for what began
  // with it, ends its tasks and threads and destroys the plugin.  Blocks; once `hurry` fires nothing is waited for.  Returns the code,
  // which nothing refers to any more; nothing if something of it would not end: it must be kept for as long as the process lives.
  std::optional<MappedCode> retire(const RetireLimits& limits, Signal& hurry);

 private:
  void run_pre_shutdown_hooks(std::chrono::nanoseconds limit, Signal& hurry);
  bool drain(const RetireLimits& limits, Signal& hurry);

  const std::string name_;
  LoadedPlugin loaded_;
  HostServices& services_;
  TakenNames names_;
  std::optional<LoopSet> loops_;
  LoggedTaskGroup tasks_;
  NamedSignal stop_;
  std::shared_ptr<NamedSignal> unused_;  // fires with the last hold
  Hold hold_;
  std::unique_ptr<StagingHost> host_;
  StagedRegistrations rows_;
  TargetRef target_;
  std::map<std::string, std::shared_ptr<const AdmissionPlugin>> admission_;
};
using GenerationRef = std::shared_ptr<PluginGeneration>;

}  // namespace backplane
