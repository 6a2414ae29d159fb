// The context that a controller receives when a term (term.hpp) starts, and the row that registers the controller.
//
// Thread-safety: the plugin's executor.
// Lifetime:      a Context is copied into the controller; the host outlives it.
// Errors:        see each function.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "frame/group_changes.hpp"
#include "frame/term.hpp"

namespace backplane::controllers {

struct Context {
  Host& host;
  std::string name;
  std::shared_ptr<Term> term;
  ApiClient api;  // sends requests as the controller's ServiceAccount
  std::shared_ptr<GroupChanges> group_changes;

  // Starts the workers when `informers` have synced.
  void work(std::shared_ptr<WorkQueue> queue, int workers, Reconcile reconcile,
            std::vector<std::shared_ptr<SharedInformer>> informers) const;
  // For a controller without a queue: runs `body` when `informers` have synced.
  void run(std::function<Task<void>()> body, std::vector<std::shared_ptr<SharedInformer>> informers) const;
};

// A controller of the table.
struct ControllerRow {
  std::string_view name;     // the name in kube-controller-manager's --controllers
  std::string_view alias;    // the name before Kubernetes 1.28
  std::string_view account;  // the ServiceAccount in kube-system that sends its requests; empty: the user system:kube-controller-manager
  bool on_by_default = true;
  // Registers handlers and queues. If it returns an error, the controller does not run in this term, and the error is logged.
  Status (*start)(const Context& context) = nullptr;
  // The resources without which the controller does not run.
  std::vector<GroupVersionResource> resources = {};
};

// Makes the client of a controller. The client sends the user agent of kube-controller-manager, for metadata.managedFields and audit. It
// limits each call that is not a watch to kCallTimeout.
ApiClient controller_client(Host& host, const ControllerRow& row);
inline constexpr std::chrono::seconds kCallTimeout{30};

// True if `status` says that an object cannot be created because its namespace is being deleted.
bool is_namespace_terminating(const Status& status);

}  // namespace backplane::controllers
