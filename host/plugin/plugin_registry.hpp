// The plugins of a server: the files, the running plugins, and their registrations.
//
//   open()    inspect → check → plan → map
//   start()   configure → provision → validate → commit, all plugins at once
//   replace() and withdraw()   the same for one plugin of a running server, while the former generation serves
//
// The registrations of all running plugins are one immutable value, PluginRows.  The server makes its tables from it, at startup and for
// each change. A plugin that fails in one of these steps is rolled back together with the plugins that depend on it; the other plugins
// continue. start() fails if --require-plugin names a plugin that fails.
//
// Thread-safety: open(), start() and changes by one thread at a time; rows(), executor_of() and report() from any thread.
// Lifetime:      owns the plugins.  Destroy it after the router, the hooks and every task of the plugins.  HostServices outlive it.
// Errors:        kInternalError if a required plugin does not run; the message is the report.
#pragma once

#include <atomic>
#include <condition_variable>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "backplane/kit/published.hpp"
#include "base/io_loop.hpp"
#include "plugin/call_thread.hpp"
#include "plugin/placement.hpp"
#include "plugin/planner.hpp"
#include "plugin/plugin_generation.hpp"
#include "plugin/plugin_history.hpp"
#include "plugin/plugin_status.hpp"
#include "plugin/retained_storage.hpp"

namespace backplane {

struct PluginOptions {
  std::vector<std::string> directories;  // --plugin-dir; files *.so, by directory and then by name
  std::vector<std::string> disabled;     // --disable-plugin
  std::vector<std::string> required;     // --require-plugin
  std::string generation_dir;            // the directory of the private copies (<data-dir>/plugins-gen); empty: a temporary directory
  std::string storage = {};              // the store in use; empty: plugins of all stores are loaded
  RetireLimits limits = {};
  std::map<std::string, std::string> required_by_flags = {};  // PlanOptions::required_by_flags
  // The time limit of each lifecycle call of a plugin that is not shipped with the server; <= 0: no limit.
  std::chrono::nanoseconds call_limit = std::chrono::seconds(30);
  // The directory of PluginHistory; empty: none, so no plugin is left out because of a crash.
  std::string history_dir = {};
  // The executable whose command `plugin probe` loads new files of other plugins in a child process; empty: files are not probed.
  std::string probe_program = {};
  std::chrono::nanoseconds probe_limit = std::chrono::seconds(10);
  std::vector<Capability> more_capabilities = {};                    // beyond host_capabilities()
  Placements placements = {};                                        // --plugin-placement
  std::chrono::nanoseconds runner_limit = std::chrono::seconds(10);  // --plugin-runner-timeout
  bool safe_mode = false;                                            // only the plugins that are shipped with the server
};

inline constexpr std::chrono::nanoseconds kNoCallLimit{0};

struct PluginReport {
  std::string name;  // the file's name if the descriptor cannot be read
  std::string version;
  std::string path;
  PluginState state = PluginState::kRejected;
  std::string code;     // the code of the first error; empty: no error
  std::string message;  // the first error as one line
  Findings findings;
};

// The registrations of the running plugins.
struct PluginRows {
  std::vector<TargetRef> delegates;  // front to back
  std::shared_ptr<const Scheme> scheme = std::make_shared<const Scheme>();
  std::map<std::string, Host::StorageBackendFactory> storage_backends;
  std::vector<std::shared_ptr<Authenticator>> authenticators;  // these and the following ones in start order
  std::vector<std::shared_ptr<Authorizer>> authorizers;
  std::shared_ptr<AuthorizerOrder> authorizer_order;  // null: --authorization-mode decides
  std::vector<AdmissionRegistration> admission;
  std::vector<GenerationRef> admission_owners;  // the generation of each registration
  std::vector<AuditRegistration> audit;
  std::string transforming_plugin;                                  // the plugin that has set the transformers
  std::shared_ptr<const StorageTransformers> storage_transformers;  // null: objects are stored as they are
  std::shared_ptr<RequestGate> request_gate;                        // null: the host limits requests
  std::shared_ptr<PeerServers> peer_servers;                        // null: no plugin registers them
};
using PluginRowsRef = std::shared_ptr<const PluginRows>;

// A replacement, withdrawal or addition of one plugin of a running server and of the plugins that depend on it, staged and validated but
// not in service.
struct PluginChange {
  struct Part {
    std::string name;
    GenerationRef former;         // null: an addition
    GenerationRef next;           // null: a withdrawal
    InspectedPlugin file = {};    // of `next`
    std::string shown_file = {};  // the file to report, of which `file` may be a copy
  };
  std::string name;
  std::vector<Part> parts;  // in start order: the part of `name` is the first
  PluginRowsRef rows;       // the registrations after the change
  Plan plan;
  std::vector<GenerationRef> start_order, chain;
  std::optional<TakenNames> names;  // after the change

  const Part& of_name() const noexcept { return parts.front(); }
  bool is_addition() const noexcept { return parts.front().former == nullptr; }
  // "a, b": the plugins that are replaced (or withdrawn) together with `name`, in start order; empty: there is none.
  std::string dependants(bool withdrawn) const;
};

class PluginRegistry {
 public:
  PluginRegistry();
  ~PluginRegistry();

  // Makes a registry without a server; it may run while the server is being constructed.
  // Errors: the directory of the copies cannot be made.  start() reports invalid plugins.
  static Result<std::unique_ptr<PluginRegistry>> open(PluginOptions options);
  Status start(HostServices& services);

  PluginRowsRef rows() const { return rows_.get(); }
  const std::vector<PluginReport>& report() const noexcept { return report_; }  // of every file, in the order found
  const Findings& general() const noexcept { return general_; }                 // not about a single plugin
  // The executor of a plugin that runs, or null.
  Executor* executor_of(const std::string& name) const;

  // Every plugin that was found, in the order found; those that were added later follow.
  std::vector<PluginStatus> statuses() const;
  std::optional<PluginStatus> status_of(const std::string& name) const;
  // The snapshots of all running out-of-tree plugins with kinds that the host stores.
  std::vector<PluginSnapshot> snapshots() const;
  // Why the plugin of `snapshot` does not run.
  PluginAbsence absence_of(const PluginSnapshot& snapshot) const;
  // "widgets" → "acme.io/widgets" if only one plugin has that last part; otherwise `name`.
  std::string full_name(const std::string& name) const;

  // ---- in a running server.  A change is staged, committed, published by the server and entered, or abandoned.
  //
  // A plugin that depends on the changed one (manifest `requires`, also with "optional") keeps references to objects of that plugin, for
  // example to storages. Each change replaces these plugins, too, by new generations of the same builds.
  // Errors: kNotFound; kConflict for a plugin that cannot be replaced, naming the reason; those of the file and of the plugin.
  Result<PluginChange> stage_replacement(const std::string& name, const std::string& file);
  // `cascade`: withdraws also the plugins that require it. Without `cascade` such plugins are an error, kConflict, that names all of them.
  Result<PluginChange> stage_withdrawal(const std::string& name, bool cascade = false);
  // Adds a plugin that does not run. --disable-plugin does not apply.
  Result<PluginChange> stage_addition(const std::string& name, const std::string& file);
  // Replaces the build by the one that ran before, from a copy of its file.
  Result<PluginChange> stage_rollback(const std::string& name);
  // The file of a plugin: that of its last build, or the one with its name in the plugin directories.  Errors: kNotFound.
  Result<std::string> file_of(const std::string& name) const;
  // Whether the build that runs was made from the bytes that `file` has now.
  bool runs_file(const std::string& name, const std::string& file) const;
  // Lifts the quarantine of a plugin that has crashed the server.
  void clear_quarantine(const std::string& name);
  // Call it when the startup is complete: the startup then does not count toward safe mode.
  void note_started();
  // `callback` is called on another thread when a runner process has ended or was restarted. Returns when no call of the former callback is
  // in progress.
  void on_runner_change(std::function<void()> callback);
  bool in_safe_mode() const noexcept { return safe_mode_; }
  // Records that the last change of `name` has failed; statuses() reports it.
  void note_refused(const std::string& name, const Status& why);
  // Commits the new generations: starts their tasks and runs the post-start hooks, in start order. Fills `change.rows`. The hooks of an
  // addition are run later, by PluginGeneration::activate().
  // Errors: those of the hooks, of kinds that are registered twice.
  Status commit(PluginChange& change, std::chrono::nanoseconds hooks_limit);
  // Puts the change into service: from then on rows() returns the rows of the change. The former generations retire on another thread, one
  // after another: dependants first.
  void enter(PluginChange change);
  // Abandons the change: retires the staged generations in the same way.
  void abandon_change(PluginChange change);
  // Sets the limits of generations that retire from now on.
  void use_limits(RetireLimits limits) { options_.limits = limits; }
  // Waits for generations that are retiring.  False: one has not retired within `limit`.
  bool wait_retired(std::chrono::nanoseconds limit);
  // The numbers of retired generations, and of those whose code is unmapped.
  std::size_t generations_ended() const noexcept { return ended_.load(); }
  std::size_t generations_unmapped() const noexcept { return unmapped_.load(); }

  // ---- shutdown
  void start_loops();
  void stop_tasks();
  Task<void> wait_tasks();
  std::size_t running_tasks() const;
  // Names of plugins that block an executor for longer than `limit`.
  std::vector<std::string> stop_loops(std::chrono::nanoseconds limit);
  // Ends the waits of generations that are retiring.
  void end_retirement_waits();

 private:
  friend class PluginStart;
  Result<PluginChange> begin_change(const std::string& name) const;
  std::vector<std::string> dependants_of(const std::string& name) const;
  Status check_parts(const PluginChange& change) const;
  Status incompatibility(const std::string& name, std::vector<InspectedPlugin> files, PlanOptions options) const;
  Result<Plan> plan_with(const PluginChange& change) const;
  static Status use_file(PluginChange& change, const std::string& file, const std::string& shown_file);
  Status keep_build(PluginChange::Part& part) const;
  Status stage_parts(PluginChange& change);
  Status stage_part(PluginChange::Part& part, const TakenNames& names);
  static Status run_hooks(const PluginChange& change, std::chrono::nanoseconds limit);
  static void clear_unpublished_targets(const PluginChange& change);
  GenerationRef find(const std::string& name) const;
  // Maps the file and makes the plugin, within the time limit if it has one.
  LoadedPlugin load(const InspectedPlugin& file, Findings& findings);
  LoadedPlugin load_within_limit(const InspectedPlugin& file, Findings& findings);
  bool in_runner(const std::string& name) const;
  void check_placements();
  LoadedPlugin load_into_runner(const InspectedPlugin& file, Findings& findings);
  std::chrono::system_clock::time_point note_runner_crash(PluginCrash record, const runner::Crash& crash);
  // True if a flag requires the plugin: startup fails without it.
  bool must_run(const std::string& name) const;
  void leave_out(std::vector<InspectedPlugin>& files);
  void leave_out_crashed(InspectedPlugin& file);
  void probe_new_files();
  bool probe(InspectedPlugin& file);
  void note_start();
  void note_change(const PluginChange::Part& part);
  void keep_former(const PluginChange::Part& part);
  PluginStatus* record_of(const std::string& name);
  // Retires the generations one after another, in this order.
  void retire(std::vector<GenerationRef> generations);
  void join_ended_retirers();
  void end(GenerationRef generation);
  struct FormerCode;
  void unmap(std::shared_ptr<FormerCode> former, std::size_t attempt = 1);
  static void keep_for_process(std::shared_ptr<FormerCode> former);

  PluginOptions options_;
  PlanOptions plan_options_;
  std::optional<GenerationDirectory> directory_;  // the directory of the mapped copies
  HostServices* services_ = nullptr;
  Findings general_;
  std::vector<PluginReport> report_;
  std::map<std::size_t, LoadedPlugin> opened_;  // the plugins that could be mapped, by their index in the plan
  CallThread calls_;
  PluginHistory history_;
  bool safe_mode_ = false;
  std::map<std::string, std::string> digests_;  // the digests of the files that are not shipped with the server, by path

  mutable std::mutex mutex_;  // guards plan_, names_, started_, chain_, records_ and former_builds_
  Plan plan_;                 // of the files; after the first change: of the running plugins
  std::optional<TakenNames> names_;
  std::vector<GenerationRef> started_;  // in start order; destroyed in reverse order
  std::vector<GenerationRef> chain_;    // the same generations in the order of delegation
  std::vector<PluginStatus> records_;
  struct FormerBuild {
    std::string copy, file, version;  // `file`: where the copy comes from
  };
  std::map<std::string, FormerBuild> former_builds_;  // by name
  kit::Published<PluginRows> rows_{std::make_shared<const PluginRows>()};

  std::mutex history_mutex_;  // guards history_ once runners may change it
  std::mutex runner_change_mutex_;
  std::function<void()> on_runner_change_;

  std::mutex retiring_mutex_;
  std::condition_variable retired_;
  std::size_t retiring_ = 0;
  std::list<std::thread> retirers_;
  std::set<std::thread::id> ended_retirers_;  // the threads of retirers_ that have ended or are about to end
  std::vector<GenerationRef> kept_;           // generations that could not be retired
  NamedSignal stop_waiting_{"hurry"};
  std::atomic<std::size_t> ended_{0}, unmapped_{0};
  std::optional<IoLoop> unmapping_;  // made when the first generation retires
};

// The registrations of `started` and `chain`, which are the same generations in different orders.
// Errors: kAlreadyExists for a kind that two of them register; `culprit` is the second.
Result<PluginRowsRef> collect_rows(const std::vector<GenerationRef>& started, const std::vector<GenerationRef>& chain);
Result<std::shared_ptr<const Scheme>> merge_schemes(const std::vector<GenerationRef>& started, GenerationRef* culprit = nullptr);

// The default of --plugin-dir: <prefix>/lib/backplane/plugins of the running binary.
std::string default_plugin_directory();
// The capabilities that the host provides: "host" and "sdk" in the SDK's version.
std::vector<Capability> host_capabilities();
// One report per file of a plan.
std::vector<PluginReport> make_report(const Plan& plan);

}  // namespace backplane
