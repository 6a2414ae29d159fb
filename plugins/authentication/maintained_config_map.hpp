// A ConfigMap in kube-system that the server maintains. The server checks it once a minute, and when a client creates, changes or deletes
// it.
//
// Thread-safety: works only on the plugin's executor.
// Lifetime:      shared; lives until the host stops.
// Errors:        failed reads and writes are logged and retried with growing delays.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "backplane/core/work_queue.hpp"
#include "backplane/host.hpp"
#include "backplane/net/client.hpp"

namespace backplane::authentication {

class MaintainedConfigMap : public std::enable_shared_from_this<MaintainedConfigMap> {
 public:
  MaintainedConfigMap(Host& host, std::string name);
  virtual ~MaintainedConfigMap() = default;

  // The post-start hook; its background task belongs to the host.
  Task<Status> start(PostStartHookContext context);

 protected:
  // Returns the wanted data of the ConfigMap; nullopt: nothing has to be changed. `data`: the current data; null if there is no ConfigMap.
  // Called on the blocking pool, one call at a time.
  virtual Result<std::optional<Object>> wanted(const Object* data) = 0;
  // Called after this server has created the ConfigMap.
  virtual void made() {}

 private:
  Task<Status> sync();
  Task<Status> write(std::optional<Object> found, Object data);
  Task<Status> make_namespace();
  Task<void> poll(Signal& stop);

  Host& host_;
  const std::string name_;
  ApiClient client_;
  std::shared_ptr<SharedInformer> informer_;
  std::shared_ptr<WorkQueue> queue_;
};

}  // namespace backplane::authentication
