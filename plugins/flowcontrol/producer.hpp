// Keeps the flow schemas and priority levels that every server has (the hook priority-and-fairness-config-producer).
//
// Mandatory ones are created again and always reverted; suggested ones are created again, and reverted as long as their
// annotation apf.kubernetes.io/autoupdate-spec is true.  Objects of an earlier version are deleted, unless it is false.
// Servers that deliver other objects over one store overwrite each other after growing pauses (kit::RewritePause).
// Thread-safety: everything on the plugin's executor; stop() from any thread.
// Lifetime:      its tasks keep it, and end after stop().
// Errors:        what fails is tried again, later each time.
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

// The object to write in place of `current`; nothing if it is unchanged.
std::optional<Object> revised(const Bootstrap& bootstrap, const Object& current);
// Whether the server may remove an object that it does not deliver.
bool is_left_over(const Object& current);

class ConfigProducer : public std::enable_shared_from_this<ConfigProducer> {
 public:
  ConfigProducer(Host& host, std::shared_ptr<SharedInformerFactory> informers);
  // Returns when everything is there, or the server stops.
  Task<Status> start(PostStartHookContext context);

 private:
  void watch(std::string_view resource);
  Task<Status> reconcile(std::string key);
  Task<Status> ensure(std::string resource, std::string name);
  Task<Status> create(const Bootstrap& bootstrap);
  Task<Status> update(std::string resource, Object object);
  Task<Status> remove(std::string resource, std::string name);
  // Levels come before the schemas that name them.
  void add_first(std::string_view resource);
  void settled(const std::string& key);
  // Whether the write has to wait because another server keeps reverting it; if so, the key comes back.
  bool waits(const std::string& key, std::string_view value);

  Host& host_;
  const std::shared_ptr<SharedInformerFactory> informers_;
  const std::shared_ptr<WorkQueue> queue_;
  std::optional<ApiClient> client_;
  kit::RewritePause pauses_;
  std::set<std::string> first_;  // what is still to be made before the start is over
  bool levels_made_ = false;
  Promise<bool> completed_;
};

}  // namespace backplane::flowcontrol
