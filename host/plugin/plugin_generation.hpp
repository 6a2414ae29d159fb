// One loaded build of a plugin with everything that belongs to it: the mapped code, the Plugin object, its Host, threads, tasks and stop
// signal, and its registrations.
//
//   made → staged → commit() → [activate()] → in service → retire() → destroyed, its code unmapped
//
// Each registration holds the generation (base/hold.hpp), so a request that uses a registration keeps the generation alive. retire() waits
// until no hold is left.
//
// Thread-safety: the steps by one thread at a time; name(), executor() and hold() from any thread.
// Lifetime:      shared by the registry and the steps in progress. A generation that is destroyed without a successful retire() leaves its
//                code mapped.
// Errors:        the Status of the plugin; an exception of the plugin becomes kInternalError.
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

// Time limits of the steps of retire().
struct RetireLimits {
  std::chrono::nanoseconds pre_shutdown = std::chrono::seconds(60);  // each hook
  std::chrono::nanoseconds requests = std::chrono::seconds(75);      // the requests that use the generation
  std::chrono::nanoseconds tasks = std::chrono::seconds(10);
  std::chrono::nanoseconds loops = std::chrono::seconds(2);
  // The time between the destruction of the plugin's objects and the unmapping of its code, because responses in progress may refer to
  // read-only data of the plugin.
  std::chrono::nanoseconds code = std::chrono::seconds(60);
};

class PluginGeneration {
 public:
  // `names`: the names that the host and other plugins have registered. The plugin's registrations add its own names.
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
  // The private copy of its file.
  const std::string& copy() const noexcept { return loaded_.code.copy(); }
  // An address in its code; null: the code is not mapped into this process.
  const void* address() const noexcept { return loaded_.code.address(); }
  // nullopt: the plugin runs in this process.
  std::optional<runner::RunnerStatus> process() const { return loaded_.process ? std::optional(loaded_.process->status()) : std::nullopt; }
  std::size_t threads() const { return loops_ ? loops_->size() : 0; }
  // CPU time of its threads.
  std::chrono::nanoseconds cpu_time() const { return loops_ ? loops_->cpu_time() : std::chrono::nanoseconds(0); }
  // Address space of its code and its static data.
  std::size_t mapped_bytes() const noexcept { return mapped_bytes_; }

  // Before commit(): replaces the generation's copy of the names.
  void use_names(const TakenNames& names) { names_ = names; }
  // Publishes the registrations in rows() and starts the tasks.
  void commit();
  const StagedRegistrations& rows() const noexcept { return rows_; }
  TargetRef target() const noexcept { return target_; }
  // The admission plugin of `registration`; the first call for a name makes it.
  Result<std::shared_ptr<const AdmissionPlugin>> admission(const AdmissionRegistration& registration, const AdmissionPluginConfig& config);

  // A lifecycle call that was given up and still runs; `ended` fires when it returns. The generation is not retired before.
  void note_call_given_up(std::shared_ptr<NamedSignal> ended) { call_given_up_ = std::move(ended); }

  void start_loops() {
    loops_started_ = true;
    loops_->start();
  }
  // Runs the post-start hooks of a plugin that is added to a running server.  Errors: that of the first hook that fails.
  Status activate(std::chrono::nanoseconds limit);

  // ---- retirement
  // Fires the stop signal of the tasks and refuses new tasks.
  void stop_tasks();
  TaskGroup& tasks() noexcept { return tasks_; }
  // Names of the executors that do not end within `limit`.
  std::vector<std::string> stop_loops(std::chrono::nanoseconds limit) { return loops_->stop(limit); }
  // Runs the pre-shutdown hooks, ends the watches, waits for the requests, ends tasks and threads, and destroys the plugin. It blocks;
  // after `stop_waiting` has fired it waits only for the threads. Precondition: the tables of the server no longer refer to the generation.
  // Returns the code, which nothing uses any more. nullopt if a request, task or thread has not ended: the generation must then live as
  // long as the process.
  std::optional<MappedCode> retire(const RetireLimits& limits, NamedSignal& stop_waiting);

 private:
  void run_pre_shutdown_hooks(std::chrono::nanoseconds limit, NamedSignal& stop_waiting);
  bool drain(const RetireLimits& limits, NamedSignal& stop_waiting);

  const std::string name_;
  LoadedPlugin loaded_;
  const std::size_t mapped_bytes_;
  HostServices& services_;
  TakenNames names_;
  std::shared_ptr<NamedSignal> call_given_up_;  // null: none
  std::optional<LoopSet> loops_;
  bool loops_started_ = false;
  LoggedTaskGroup tasks_;
  NamedSignal stop_;
  std::shared_ptr<NamedSignal> unused_;  // fires when the last hold is released
  Hold hold_;
  std::unique_ptr<StagingHost> host_;
  StagedRegistrations rows_;
  TargetRef target_;
  std::map<std::string, std::shared_ptr<const AdmissionPlugin>> admission_;
};
using GenerationRef = std::shared_ptr<PluginGeneration>;

}  // namespace backplane
