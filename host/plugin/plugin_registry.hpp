// The plugins of a server: which files there are, which of them run, and what those have registered.
//
//   open()    inspect → check → plan → map
//   start()   configure → provision → validate → commit, all plugins at once
//   replace() and withdraw()   the same for one plugin of a running server, beside the generation that serves meanwhile
//
// What all running plugins have registered is one immutable value, PluginRows.  The server makes its tables from it: at the start, and
// again for each change.  A plugin that fails on the way is rolled back together with those that require it, and the others go on; a
// failure of one that was required makes start() fail.
//
// Thread-safety: open(), start() and changes by one thread at a time; rows(), executor_of() and report() from any thread.
// Lifetime:      owns the plugins.  Destroy it after the router, the hooks and every task of the plugins are gone.  HostServices outlive
// it. Errors:        kInternalError when a required plugin does not run; the message is the report.
#pragma once

#include <atomic>
#include <condition_variable>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/io_loop.hpp"
#include "base/published.hpp"
#include "plugin/planner.hpp"
#include "plugin/plugin_generation.hpp"

namespace backplane {

struct PluginOptions {
  std::vector<std::string> directories;  // --plugin-dir; files *.so, by directory and then by name
  std::vector<std::string> disabled;     // --disable-plugin
  std::vector<std::string> required;     // --require-plugin
  std::string generation_dir;            // where private copies stand (<data-dir>/plugins-gen); empty: a temporary directory
  std::string storage = {};              // the store in use; empty: plugins of all stores are loaded
  RetireLimits limits = {};
};

struct PluginReport {
  std::string name;  // the file's name when the descriptor could not be read
  std::string version;
  std::string path;
  PluginState state = PluginState::kRejected;
  std::string code;     // of the first error; empty when there is none
  std::string message;  // the first error as one line
  Findings findings;
};

// What the running plugins have registered.
struct PluginRows {
  std::vector<TargetRef> delegates;  // front to back
  std::shared_ptr<const Scheme> scheme = std::make_shared<const Scheme>();
  std::map<std::string, Host::StorageBackendFactory> storage_backends;
  std::vector<std::shared_ptr<Authenticator>> authenticators;  // what follows in start order
  std::vector<std::shared_ptr<Authorizer>> authorizers;
  std::shared_ptr<AuthorizerOrder> authorizer_order;  // null: --authorization-mode
  std::vector<AdmissionRegistration> admission;
  std::vector<GenerationRef> admission_owners;  // of each
  std::vector<AuditRegistration> audit;
  std::string transforming_plugin;                                  // whose the transformers are
  std::shared_ptr<const StorageTransformers> storage_transformers;  // null: objects are stored as they are
  std::shared_ptr<RequestGate> request_gate;                        // null: the host limits requests
  std::shared_ptr<PeerServers> peer_servers;                        // null: none are known
};
using PluginRowsRef = std::shared_ptr<const PluginRows>;

// One plugin of a running server that is to be replaced or withdrawn: staged and validated, not in service.
struct PluginChange {
  GenerationRef former;
  GenerationRef next;  // null: it is withdrawn
  PluginRowsRef rows;  // as they are with it
  Plan plan;
  std::vector<GenerationRef> start_order, chain;
};

class PluginRegistry {
 public:
  PluginRegistry();
  ~PluginRegistry();

  // Needs no server, and may run while one is being made.
  // Errors: the directory of the copies cannot be made.  start() reports plugins that are wrong.
  static Result<std::unique_ptr<PluginRegistry>> open(PluginOptions options);
  Status start(HostServices& services);

  PluginRowsRef rows() const { return rows_.get(); }
  const std::vector<PluginReport>& report() const noexcept { return report_; }  // of every file, in the order found
  const Findings& general() const noexcept { return general_; }                 // about no plugin in particular
  // The executor of a plugin that runs, or null.
  Executor* executor_of(const std::string& name) const;

  // ---- in a running server.  A change is staged, committed, published by the server, and entered; or given up.
  // Errors: kNotFound; kConflict for a plugin that cannot be replaced alone, naming the reason; those of the file and of the plugin.
  Result<PluginChange> stage_replacement(const std::string& name, const std::string& file);
  Result<PluginChange> stage_withdrawal(const std::string& name);
  // Its tasks begin, its post-start hooks run.  Fills `change.rows`.  Errors: those of the hooks, of kinds that are registered twice.
  Status commit(PluginChange& change, std::chrono::nanoseconds hooks_limit);
  // rows() are those of the change from here on; the former generation ends in the background, on a thread of its own.
  void enter(PluginChange change);
  // The generation that was staged ends in the same way.
  void give_up(PluginChange change);
  // For generations that end from here on.
  void use_limits(RetireLimits limits) { options_.limits = limits; }
  // Waits for generations that are ending.  False: one has not ended within `limit`.
  bool wait_retired(std::chrono::nanoseconds limit);
  // How many generations have ended, and of how many the code has been unmapped.
  std::size_t generations_ended() const noexcept { return ended_.load(); }
  std::size_t generations_unmapped() const noexcept { return unmapped_.load(); }

  // ---- the end of the server
  void start_loops();
  void stop_tasks();
  Task<void> wait_tasks();
  std::size_t running_tasks() const;
  // Names of plugins that block an executor for longer than `limit`.
  std::vector<std::string> stop_loops(std::chrono::nanoseconds limit);
  // Generations that are ending are waited for no longer.
  void hurry();

 private:
  friend class PluginStart;
  Status check_alone(const PluginGeneration& generation) const;
  Result<Plan> plan_with(const std::string& name, const InspectedPlugin* file) const;
  GenerationRef find(const std::string& name) const;
  void retire(GenerationRef generation);
  void end(GenerationRef generation);
  void unmap(const std::string& name, MappedCode& code);

  PluginOptions options_;
  PlanOptions plan_options_;
  std::optional<GenerationDirectory> directory_;  // of the copies that are mapped
  HostServices* services_ = nullptr;
  Findings general_;
  std::vector<PluginReport> report_;
  std::map<std::size_t, LoadedPlugin> opened_;  // by index in the plan; those that could not be mapped are left out

  mutable std::mutex mutex_;  // what follows
  Plan plan_;                 // of the files; after the first change: of those that run
  std::optional<TakenNames> names_;
  std::vector<GenerationRef> started_;  // in this order; destroyed in the reverse one
  std::vector<GenerationRef> chain_;    // the same, front to back
  Published<PluginRows> rows_{std::make_shared<const PluginRows>()};

  std::mutex retiring_mutex_;
  std::condition_variable retired_;
  std::size_t retiring_ = 0;
  std::list<std::thread> retirers_;
  std::vector<GenerationRef> kept_;  // would not end
  NamedSignal hurry_{"hurry"};
  std::atomic<std::size_t> ended_{0}, unmapped_{0};
  std::optional<IoLoop> unmapping_;  // made with the first end
};

// Everything that `started` and `chain`, which are the same generations, have registered.
// Errors: kAlreadyExists for a kind that two of them have; `culprit` is the second.
Result<PluginRowsRef> collect_rows(const std::vector<GenerationRef>& started, const std::vector<GenerationRef>& chain);
Result<std::shared_ptr<const Scheme>> merge_schemes(const std::vector<GenerationRef>& started, GenerationRef* culprit = nullptr);

// The plugins folder beside the running binary (<prefix>/lib/backplane/plugins): what --plugin-dir is when it is not given.
std::string default_plugin_directory();
// What the host provides to requirements: "host" and "sdk" in the SDK's version.
std::vector<Capability> host_capabilities();
// One report per file of a plan.
std::vector<PluginReport> make_report(const Plan& plan);

}  // namespace backplane
