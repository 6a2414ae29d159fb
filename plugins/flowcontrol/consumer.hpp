// Configures the gate from flow schemas and priority levels, and sets the condition Dangling of each flow schema, which shows whether its
// priority level exists (the hook priority-and-fairness-config-consumer).
//
// Thread-safety: every method on the plugin's executor.
// Lifetime:      shared by its tasks, which end when the server stops.
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

// Returns the condition Dangling for the flow schema; nullopt if the flow schema already has that condition.
std::optional<Object> new_condition(const Object& flow_schema, bool level_exists);

class ConfigConsumer : public std::enable_shared_from_this<ConfigConsumer> {
 public:
  ConfigConsumer(Host& host, std::shared_ptr<SharedInformerFactory> informers, std::shared_ptr<Gate> gate);
  Task<Status> start(PostStartHookContext context);

 private:
  // Called when a level is added or removed: enqueues the flow schemas that name the level.
  void note_level(const ObjectRef& level);
  Task<Status> reconcile(std::string name);
  Task<Result<bool>> exists(std::string level);

  // Registers handlers that enqueue a call of configure() for each change of the resource.
  void follow_changes(std::string_view resource);
  // Passes the current levels and schemas to the gate.
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
