// A ConfigMap in kube-system that the server maintains: checked when it is created, changed or deleted, and once a minute.
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
  // The wanted data of the ConfigMap, computed from its current data; `data` is null if there is no ConfigMap.  nullopt: no change.
  // Called on the blocking pool, one call at a time.
  virtual Result<std::optional<Object>> wanted(const Object* data) = 0;
  // Called after it has been created.
  virtual void made() {}

 private:
  Task<Status> sync();
  Task<Status> write(std::optional<Object> found, Object data);
  Task<Status> make_namespace();
  Task<void> look_often(Signal& stop);

  Host& host_;
  const std::string name_;
  ApiClient client_;
  std::shared_ptr<SharedInformer> informer_;
  std::shared_ptr<WorkQueue> queue_;
};

}  // namespace backplane::authentication
