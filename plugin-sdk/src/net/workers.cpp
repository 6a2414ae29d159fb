// The workers of a WorkQueue, and the event handler that adds keys to a queue.
#include "backplane/core/exception_text.hpp"
#include "backplane/core/log_limit.hpp"
#include "backplane/core/logger.hpp"
#include "backplane/core/work_queue.hpp"
#include "backplane/host.hpp"
#include "backplane/net/informer.hpp"
#include "core/work_queue_metrics.hpp"

namespace backplane BACKPLANE_API {

namespace {

Task<Status> fenced(const Reconcile& reconcile, std::string key) {
  Status status;
  try {
    Task<Status> work = reconcile(std::move(key));
    status = co_await std::move(work);
  } catch (...) {
    status = internal_error(exception_text());
  }
  co_return status;
}

// A conflict means that another writer has succeeded, so a warning is logged only after more conflicts in a row than this.
constexpr int kUsualConflicts = 4;

// The shared state of one controller's workers.
struct Controller {
  std::string name;
  Logger& logger;
  LogLimit limit{std::chrono::seconds(10)};

  void report(const WorkQueue& queue, const std::string& key, const Status& status) {
    std::string line =
        "reconcile failed, it is tried again controller=" + name + " key=" + quoted(key) + " error=" + quoted(status.message());
    const bool usual = status.reason() == Reason::kConflict && queue.num_requeues(key) < kUsualConflicts;
    const std::optional<std::uint64_t> suppressed = usual ? std::nullopt : limit.admit();
    if (!suppressed) return logger.debug(line);
    if (*suppressed > 0) line += " suppressed=" + std::to_string(*suppressed);
    logger.warn(line);
  }
};

Task<void> work(std::shared_ptr<WorkQueue> queue, Reconcile reconcile, std::shared_ptr<Controller> controller) {
  while (true) {
    std::optional<std::string> key = co_await queue->get();
    if (!key) co_return;
    Status status = co_await fenced(reconcile, *key);
    if (status.ok()) {
      queue->forget(*key);
    } else {
      controller->report(*queue, *key, status);
      queue->add_rate_limited(*key);
    }
    queue->done(*key);
  }
}

}  // namespace

Task<void> run_worker(std::shared_ptr<WorkQueue> queue, Reconcile reconcile, Logger& logger, std::string controller) {
  work_queues::name_work_queue(*queue, controller);
  return work(std::move(queue), std::move(reconcile), std::shared_ptr<Controller>(new Controller{std::move(controller), logger}));
}

void spawn_workers(Host& host, const std::string& name, int count, std::shared_ptr<WorkQueue> queue, Reconcile reconcile) {
  const std::shared_ptr<Controller> controller(new Controller{name, host.logger()});
  work_queues::name_work_queue(*queue, name);
  for (int i = 0; i < count; ++i) host.spawn(name + "/" + std::to_string(i), work(queue, reconcile, controller));
}

ResourceEventHandler enqueue_keys(std::shared_ptr<WorkQueue> queue) {
  ResourceEventHandler handler;
  handler.on_add = [queue](const ObjectRef& object, bool) { queue->add(object_key(*object)); };
  handler.on_update = [queue](const ObjectRef&, const ObjectRef& now) { queue->add(object_key(*now)); };
  handler.on_delete = [queue](const ObjectRef& last, bool) { queue->add(object_key(*last)); };
  return handler;
}

}  // namespace BACKPLANE_API
