// Creates the default roles and bindings, and restores their missing rules and subjects (the hook rbac/bootstrap-roles).
//
// It runs once, at startup. It lists the objects with the bootstrapping label and creates those that the lists lack. If such an object
// exists without the label, it is read and updated. All writes are started at once, so that the store commits them together.
// Thread-safety: everything on the plugin's executor.
// Lifetime:      owned by its tasks, which end with the hook or when the server stops.
// Errors:        failed writes are retried for 30 seconds; then the hook fails, and with it startup.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "backplane/core/work_queue.hpp"
#include "backplane/host.hpp"
#include "backplane/net/client.hpp"
#include "backplane/points/hooks.hpp"
#include "bootstrap.hpp"
#include "reconcile.hpp"

namespace backplane::rbac {

class PolicyBootstrap : public std::enable_shared_from_this<PolicyBootstrap> {
 public:
  explicit PolicyBootstrap(Host& host);
  // Returns when all objects exist, or the server stops.
  Task<Status> start(PostStartHookContext context);

 private:
  // A key of the queue is the index of an object in the policy, or "namespace/NAME" for the missing objects of a namespace, or "lists" for
  // the lists, which are read first.
  void open(std::string key);
  void finish(Status status);
  Task<Status> work(std::string key);
  Task<Status> do_work(std::string key);
  Task<Status> read_labelled(std::string_view resource);
  // Adds the objects to the queue that the lists lack, or that have to be changed.
  void plan();
  void plan(std::size_t index);
  Task<Status> ensure_namespace(std::string ns);
  Task<Status> ensure(std::size_t index);
  Task<Status> create(Delivered delivered);
  Task<Status> update(const Delivered& delivered, const Object& current);
  Task<Status> write(const Delivered& delivered, Revision revision, std::string uid);
  // Returns the replacement of `current`; nullopt: no change is needed or allowed.
  std::optional<Revision> revision_of(const Delivered& delivered, const Object& current);

  Host& host_;
  const std::shared_ptr<WorkQueue> queue_;
  std::optional<ApiClient> client_;
  std::optional<BootstrapPolicy> policy_;
  std::map<std::string, Object> labelled_;  // by resource, namespace and name
  std::set<std::string> open_;              // keys that are still to be done
  std::string last_failure_ = "timed out";
  Promise<Status> completed_;
};

}  // namespace backplane::rbac
