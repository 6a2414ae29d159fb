// Keeps the registration of a runner: applies its objects at the start (server-side apply), and again when one of them is changed or
// deleted.
//
// Thread-safety: start(), remove() and state() from any executor.
// Lifetime:      shared by its task, which ends when the stop signal fires.
// Errors:        a failed attempt is logged and repeated after a pause; state() returns the first error of the last attempt.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "app/extension/registration.hpp"
#include "backplane/core/logger.hpp"
#include "backplane/core/task_group.hpp"
#include "backplane/core/turns.hpp"
#include "backplane/core/work_queue.hpp"
#include "backplane/net/client.hpp"
#include "backplane/points/hooks.hpp"

namespace backplane {

class Registrar : public std::enable_shared_from_this<Registrar> {
 public:
  // Returns the objects to register; called again for each attempt.
  using Objects = std::function<std::vector<RegisteredObject>()>;
  Registrar(std::shared_ptr<ApiClient> outer, Objects objects, Logger& logger);

  void start(TaskGroup& tasks, Executor& executor, Signal& stop);
  // Applies the objects again, because they may have changed.
  void apply_soon();
  // Stops applying, and deletes the objects of this runner.
  Task<Status> remove();
  // Success if the last attempt has applied all objects.
  Status state() const;

 private:
  Task<Status> apply_all();
  Task<Status> apply(const RegisteredObject& each);
  Task<Status> remove(const RegisteredObject& each);
  Task<Status> check_free(const RegisteredObject& each);
  void follow(const GroupVersionResource& resource, const std::string& ns, TaskGroup& tasks, Executor& executor, Signal& stop);
  bool is_ours(const GroupVersionResource& resource, const std::string& key) const;

  const std::shared_ptr<ApiClient> outer_;
  const Objects objects_;
  Logger& logger_;
  std::shared_ptr<WorkQueue> queue_;
  Turns turns_{1};  // serializes apply_all() and remove(), so that no object is applied after it was deleted
  mutable std::mutex mutex_;
  Status state_ = service_unavailable("the registration is not complete");
  bool complete_ = false;
};

}  // namespace backplane
