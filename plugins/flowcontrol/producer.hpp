// Maintains the flow schemas and priority levels that every server has (the hook priority-and-fairness-config-producer).
// Deleted objects are created again. Changes of mandatory objects are always reverted. Changes of suggested objects are reverted if their
// annotation apf.kubernetes.io/autoupdate-spec is true. An object that is not built in (any more) is deleted if that annotation is true.
// Servers that share a store but have different built-in objects overwrite each other's objects after growing pauses (kit::RewritePause).
// Thread-safety: every method on the plugin's executor.
// Lifetime:      shared by its tasks, which end when the server stops.
// Errors:        failed steps are retried with growing pauses.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "backplane/core/work_queue.hpp"
#include "backplane/host.hpp"
#include "backplane/kit/rewrite_pause.hpp"
#include "backplane/net/client.hpp"
#include "backplane/points/hooks.hpp"
#include "kinds.hpp"

namespace backplane::flowcontrol {

// The object to write in place of `current`; nullopt if `current` needs no change.
std::optional<Object> revised(const Bootstrap& bootstrap, const Object& current);
// Whether the annotation of an object that is not built in allows the server to remove the object.
bool is_stale(const Object& current);

class ConfigProducer : public std::enable_shared_from_this<ConfigProducer> {
 public:
  ConfigProducer(Host& host, std::shared_ptr<SharedInformerFactory> informers);
  // Returns when all objects exist, or the server stops.
  Task<Status> start(PostStartHookContext context);

 private:
  void watch(std::string_view resource);
  Task<Status> reconcile(std::string key);
  Task<Status> ensure(std::string resource, std::string name);
  Task<Status> create(const Bootstrap& bootstrap);
  Task<Status> update(std::string resource, Object object);
  Task<Status> remove(std::string resource, std::string name);
  // Enqueues the objects of the resource that startup waits for. Levels are created before the schemas that name them.
  void add_first(std::string_view resource);
  void settled(const std::string& key);
  // Whether the write must wait because another server keeps reverting it; if so, the key is queued again later.
  bool waits(const std::string& key, std::string_view value);

  Host& host_;
  const std::shared_ptr<SharedInformerFactory> informers_;
  const std::shared_ptr<WorkQueue> queue_;
  std::optional<ApiClient> client_;
  kit::RewritePause pauses_;
  std::set<std::string> first_;  // objects that must still be created during startup
  bool levels_made_ = false;
  Promise<bool> completed_;
};

}  // namespace backplane::flowcontrol
