#include "namespaces/controller.hpp"

#include <algorithm>
#include <ctime>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/core/work_queue.hpp"
#include "backplane/net/client.hpp"
#include "backplane/net/informer.hpp"
#include "namespaces/namespace_contents.hpp"
#include "namespaces/namespace_emptying.hpp"

namespace backplane::core {
namespace {

constexpr std::chrono::milliseconds kFirstPause{200};
constexpr std::chrono::milliseconds kLongestPause{5000};
constexpr int kWorkers = 10;  // --concurrent-namespace-syncs of kube-controller-manager
// Upstream's namespaceDeletionGracePeriod: after this time every server of the store refuses new objects in the namespace.
constexpr std::chrono::seconds kGrace{5};
constexpr std::string_view kFinalizer = "kubernetes";

GroupVersionResource namespaces() { return {"", "v1", "namespaces"}; }

bool is_terminating(const Object& object) {
  if (meta_text(object, "deletionTimestamp").empty()) return false;
  const auto finalizers = texts_of(object_or_empty(object, "spec"), "finalizers");
  return std::find(finalizers.begin(), finalizers.end(), kFinalizer) != finalizers.end();
}

bool is_terminating(const ObjectEntry& entry) { return is_terminating(decode(entry, json::storage_ptr())); }

class NamespaceController {
 public:
  NamespaceController(Host& host, std::shared_ptr<ControllerElection> election, std::shared_ptr<SharedInformer> informer,
                      std::shared_ptr<WorkQueue> queue)
      : api_(host.client()), election_(std::move(election)), informer_(std::move(informer)), queue_(std::move(queue)) {}

  // One attempt to empty and release a namespace; an error reports the obstacle.
  Task<Status> reconcile(std::string name) {
    const ObjectRef known = informer_->indexer().get(name);
    if (known == nullptr || !is_terminating(*known)) co_return Status();
    const bool ours = co_await election_->is_ours();
    if (!ours) {
      queue_->add_after(name, ControllerElection::kInterval);
      co_return Status();
    }
    auto ns = co_await api_.get(namespaces(), "", name);
    if (!ns.ok()) co_return ns.status().code() == 404 ? Status() : std::move(ns).status();
    if (!is_terminating(*ns)) co_return Status();
    DeletionReport report;
    auto emptying = empty_namespace(api_, *ns, report);
    const std::int64_t estimate = co_await std::move(emptying);
    auto noting = note(*ns, report);
    co_await std::move(noting);
    if (report.failed()) co_return internal_error("namespace " + name + " cannot be emptied yet");
    if (estimate == 0) co_return co_await release(std::move(name));
    // The estimate is a grace period that a client has set, so it may be any number.
    const auto pause = std::chrono::seconds(std::clamp<std::int64_t>(estimate / 2 + 1, 1, kLongestPause / std::chrono::seconds(1)));
    queue_->add_after(name, pause);
    co_return Status();
  }

 private:
  // Writes the conditions. Ignores errors, such as a conflict, because the next attempt writes the conditions again.
  Task<void> note(Object& ns, const DeletionReport& report) {
    if (!set_deletion_conditions(ns, report)) co_return;
    Object sent = ns;
    auto written = co_await api_.update(namespaces(), "", std::move(sent), "status");
    static_cast<void>(written.ok());
  }

  Task<Status> release(std::string name) {
    auto ns = co_await api_.get(namespaces(), "", name);
    if (!ns.ok()) co_return ns.status().code() == 404 ? Status() : std::move(ns).status();
    if (!is_terminating(*ns)) co_return Status();
    Array& finalizers = ensure_array(ensure_object(*ns, "spec"), "finalizers");
    Array kept;
    for (const Value& each : finalizers) {
      if (text_of(each) != kFinalizer) kept.push_back(each);
    }
    finalizers = std::move(kept);
    auto done = co_await api_.update(namespaces(), "", std::move(*ns), "finalize");
    if (!done.ok() && done.status().code() != 404) co_return std::move(done).status();
    co_return Status();
  }

  ApiClient api_;
  const std::shared_ptr<ControllerElection> election_;
  const std::shared_ptr<SharedInformer> informer_;
  const std::shared_ptr<WorkQueue> queue_;
};

ResourceEventHandler enqueue_terminating(std::shared_ptr<WorkQueue> queue) {
  const auto note = [queue](const ObjectRef& ns) {
    if (is_terminating(*ns)) queue->add_after(std::string(ns->name()), kGrace);
  };
  ResourceEventHandler handler;
  handler.on_add = [note](const ObjectRef& ns, bool) { note(ns); };
  // Ignores updates of a namespace that was terminating before, such as this controller's own changes of the conditions.
  handler.on_update = [note](const ObjectRef& old, const ObjectRef& now) {
    if (!is_terminating(*old)) note(now);
  };
  return handler;
}

}  // namespace

void start_namespace_controller(Host& host, std::shared_ptr<StandardStorage> storage, std::shared_ptr<ControllerElection> election,
                                PostStartHookContext context) {
  auto informer = SharedInformer::make("namespaces", list_watch(std::move(storage)), host.logger());
  auto queue = std::make_shared<WorkQueue>(context.executor, item_exponential_failure_rate_limiter(kFirstPause, kLongestPause));
  auto controller = std::make_shared<NamespaceController>(host, std::move(election), informer, queue);
  informer->add_event_handler(enqueue_terminating(queue));
  context.stop.on_fire([informer, queue] {
    informer->stop();
    queue->shut_down();
  });
  host.spawn("namespace-informer", informer->run());
  spawn_workers(host, "namespace-controller", kWorkers, queue,
                [controller](std::string name) { return controller->reconcile(std::move(name)); });
}

}  // namespace backplane::core
