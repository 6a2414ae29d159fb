// The delegation chain: every plugin's share of the server, ordered front to back, and the immutable route table folded from it.
//
// Thread-safety: a DelegationTarget is filled on one thread and then only read; Router may be used from any thread.
// Errors:        two targets that serve the same group version, path, hook or signal: kAlreadyExists naming the first.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backplane/host.hpp"
#include "backplane/points/paths.hpp"
#include "backplane/rest/api_group.hpp"
#include "base/signal.hpp"

namespace backplane {

class OpenWatches;  // endpoints/open_watches.hpp

// Hooks and checks do not throw: StagingHost fences those of plugins.
struct PostStartHookEntry {
  std::string name;
  PostStartHook hook;
  std::string registrant;  // the plugin, for the duplicate error
};
struct PreShutdownHookEntry {
  std::string name;
  PreShutdownHook hook;
  std::string registrant;
};
struct HealthCheckEntry {
  std::shared_ptr<HealthCheck> check;
  HealthEndpoints where;
  std::string registrant;
};

// One delegate.  What it has registered itself; the front server inherits all of it (upstream: DelegationTarget).
struct DelegationTarget {
  std::string name;
  std::vector<APIGroupInfo> groups;
  std::vector<PathRoute> paths;
  std::vector<PostStartHookEntry> post_start_hooks;
  std::vector<PreShutdownHookEntry> pre_shutdown_hooks;
  std::vector<HealthCheckEntry> health_checks;
  std::map<std::string, std::shared_ptr<NamedSignal>> mux_and_discovery_signals;
  bool publishes_at_run_time = false;  // has taken dynamic_groups()
  bool publishes_paths = false;        // has taken dynamic_paths()
  // The open watches on its resources, to be ended with it; null: those of all such delegates are one set.
  std::shared_ptr<OpenWatches> watches;
};

using TargetRef = std::shared_ptr<const DelegationTarget>;

}  // namespace backplane
