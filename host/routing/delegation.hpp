// The delegation chain: one target per plugin, ordered front to back, from which the immutable route table is made.
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

// The registrations of one delegate; the front server inherits all of them (upstream: DelegationTarget).
struct DelegationTarget {
  std::string name;
  std::vector<APIGroupInfo> groups;
  std::vector<PathRoute> paths;
  std::vector<PostStartHookEntry> post_start_hooks;
  std::vector<PreShutdownHookEntry> pre_shutdown_hooks;
  std::vector<HealthCheckEntry> health_checks;
  std::map<std::string, std::shared_ptr<NamedSignal>> mux_and_discovery_signals;
  bool publishes_at_run_time = false;  // uses dynamic_groups()
  bool publishes_paths = false;        // uses dynamic_paths()
  // The open watches on its resources, which end with it; null: all delegates without a set share one.
  std::shared_ptr<OpenWatches> watches;
};

using TargetRef = std::shared_ptr<const DelegationTarget>;

}  // namespace backplane
