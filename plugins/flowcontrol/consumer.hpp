// Configures the gate from flow schemas and priority levels, and sets the condition Dangling of each flow schema, which shows whether its
// priority level exists (the hook priority-and-fairness-config-consumer).
//
// Thread-safety: everything on the plugin's executor.
// Lifetime:      its tasks keep it, and end when the server stops.
// Errors:        failed steps are retried with growing pauses.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "backplane/core/work_queue.hpp"
#include "backplane/host.hpp"
#include "backplane/net/client.hpp"
#include "backplane/net/informer.hpp"
#include "backplane/points/hooks.hpp"
#include "gate.hpp"
#include "kinds.hpp"

namespace backplane::flowcontrol {

// The condition that the flow schema must get; nullopt: it has it already.
std::optional<Object> new_condition(const Object& flow_schema, bool level_exists);

class ConfigConsumer : public std::enable_shared_from_this<ConfigConsumer> {
 public:
  ConfigConsumer(Host& host, std::shared_ptr<SharedInformerFactory> informers, std::shared_ptr<Gate> gate);
  Task<Status> start(PostStartHookContext context);

 private:
  // A level has been added or removed: enqueues the flow schemas that name it.
  void note_level(const ObjectRef& level);
  Task<Status> reconcile(std::string name);
  Task<Result<bool>> exists(std::string level);

  // Passes the current objects to the gate.
  void follow_changes(std::string_view resource);
  Task<Status> configure();
  // Calls Gate::adjust() every ten seconds, until the server stops.
  Task<void> adjust(Signal& stop);

  Host& host_;
  const std::shared_ptr<SharedInformerFactory> informers_;
  const std::shared_ptr<Gate> gate_;
  const std::shared_ptr<WorkQueue> changes_;
  const std::shared_ptr<WorkQueue> queue_;
  std::optional<ApiClient> client_;
};

}  // namespace backplane::flowcontrol
