// The delegation chain has one DelegationTarget for each plugin, in order from front to back. Router makes the immutable route table from
// it.
//
// Thread-safety: a DelegationTarget is filled on one thread and is immutable after that. Router may be used on any thread.
// Errors:        kAlreadyExists if two targets serve the same group version or path, or have the same hook or signal. The message names the
//                first target.
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

// The hooks and checks in the structures below do not throw: StagingHost catches exceptions of plugins.
struct PostStartHookEntry {
  std::string name;
  PostStartHook hook;
  std::string registrant;  // the plugin's name, for the error about a duplicate
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

// The registrations of one plugin. The front server serves the registrations of all targets (upstream: DelegationTarget).
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
  // The open watches on the target's resources; they end when the target is removed. Null: the target shares one object with all targets
  // that have null.
  std::shared_ptr<OpenWatches> watches;
};

using TargetRef = std::shared_ptr<const DelegationTarget>;

}  // namespace backplane
