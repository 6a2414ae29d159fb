#include "finalizer.hpp"

#include <algorithm>

#include "definition.hpp"

namespace backplane::apiextensions {
namespace {

constexpr int kWorkers = 5;
constexpr std::chrono::milliseconds kFirstPause{200};
constexpr std::chrono::seconds kLongestPause{30};

Condition terminating(std::string status, std::string reason, std::string message) {
  return {"Terminating", std::move(status), std::move(reason), std::move(message)};
}

void remove_finalizer(Object& crd, std::string_view finalizer) {
  std::vector<std::string> finalizers = ObjectMeta(crd).finalizers();
  finalizers.erase(std::remove(finalizers.begin(), finalizers.end(), finalizer), finalizers.end());
  ObjectMeta(crd).set_finalizers(finalizers);
}

void set_deletion_in_progress(Object& crd) {
  set_condition(crd, terminating("True", "InstanceDeletionInProgress", "CustomResource deletion is in progress"));
}
void set_deletion_completed(Object& crd) {
  set_condition(crd, terminating("False", "InstanceDeletionCompleted", "removed all instances"));
  remove_finalizer(crd, kCleanupFinalizer);
}
void set_never_established(Object& crd) {
  set_condition(crd, terminating("False", "NeverEstablished", "resource was never established"));
  remove_finalizer(crd, kCleanupFinalizer);
}

}  // namespace

Finalizer::Finalizer(Host& host, DefinitionStatus status)
    : host_(host),
      status_(std::move(status)),
      queue_(std::make_shared<WorkQueue>(host.executor(), item_exponential_failure_rate_limiter(kFirstPause, kLongestPause))) {}

void Finalizer::start() {
  const auto self = shared_from_this();
  spawn_workers(host_, "crd-finalizer", kWorkers, queue_, [self](std::string name) { return self->reconcile(std::move(name)); });
}

void Finalizer::stop() {
  queue_->shut_down();
  host_.executor().post([self = shared_from_this()] {
    for (const auto& [_, deletion] : self->deletions_) {
      if (deletion.rest) deletion.rest->stop();
    }
  });
}

void Finalizer::take(const std::string& name, std::string uid, InstalledDefinitionRef installed) {
  const auto [known, fresh] = deletions_.try_emplace(name);
  if (!fresh && known->second.uid == uid && known->second.installed == installed) return;
  if (known->second.rest) known->second.rest->stop();
  known->second = Deletion{std::move(uid), std::move(installed), nullptr};
  queue_->add(name);
}

void Finalizer::drop(const std::string& name) {
  const auto found = deletions_.find(name);
  if (found == deletions_.end()) return;
  if (found->second.rest) found->second.rest->stop();
  deletions_.erase(found);
}

Task<Status> Finalizer::reconcile(std::string name) {
  const auto found = deletions_.find(name);
  if (found == deletions_.end()) co_return Status();
  const std::string uid = found->second.uid;
  const InstalledDefinitionRef installed = found->second.installed;
  auto beginning = status_.write(name, uid, set_deletion_in_progress);
  auto begun = co_await std::move(beginning);
  if (!begun.ok()) co_return is_gone(begun.status()) ? Status() : std::move(begun.status());
  if (installed != nullptr) {
    // A create that began earlier may end after the objects have been removed. Therefore the create is awaited.
    const bool settled = installed->writes->no_creates([queue = queue_, name] { queue->add(name); });
    if (!settled) co_return Status();
    Status removed = co_await remove_objects(installed);
    if (queue_->shutting_down()) co_return Status();
    if (!removed.ok()) {
      const std::string why = "could not issue all deletes: " + removed.message();
      std::function<void(Object&)> say_failed = [why](Object& crd) {
        set_condition(crd, terminating("True", "InstanceDeletionFailed", why));
      };
      auto noting = status_.write(name, uid, std::move(say_failed));
      auto noted = co_await std::move(noting);
      if (!noted.ok() && is_gone(noted.status())) co_return Status();
      co_return removed;
    }
    auto empty = co_await has_no_objects(name, installed);
    if (!empty.ok()) co_return std::move(empty.status());
    if (!*empty) co_return Status();
  }
  auto finishing = status_.write(name, uid, installed != nullptr ? set_deletion_completed : set_never_established);
  auto finished = co_await std::move(finishing);
  if (!finished.ok() && !is_gone(finished.status())) co_return std::move(finished.status());
  co_return Status();
}

Task<Status> Finalizer::remove_objects(InstalledDefinitionRef installed) {
  RequestContext context;
  DeleteOptions at_once;
  ListOptions everything;
  const auto store = installed->stores->stored();
  if (!store.ok()) co_return store.status();
  auto removed = co_await (*store)->remove_collection(context, std::move(at_once), std::move(everything));
  if (!removed.ok()) co_return std::move(removed.status());
  co_return Status();
}

Task<Result<bool>> Finalizer::has_no_objects(std::string name, InstalledDefinitionRef installed) {
  RequestContext context;
  ListOptions one;
  one.limit = 1;
  const auto store = installed->stores->stored();
  if (!store.ok()) co_return store.status();
  auto left = co_await (*store)->list(context, std::move(one));
  if (!left.ok()) co_return std::move(left.status());
  auto reading = left->items->next();
  auto first = co_await std::move(reading);
  if (!first.ok()) co_return std::move(first.status());
  if (first->empty()) co_return true;
  const std::shared_ptr<SharedInformer> rest = follow(name, installed, *store);
  if (rest == nullptr) co_return false;
  const bool synced = co_await rest->wait_synced();
  // If the last object was removed before the informer was synced, no further event follows.
  if (synced && rest->indexer().size() == 0) queue_->add_rate_limited(name);
  co_return false;
}

std::shared_ptr<SharedInformer> Finalizer::follow(const std::string& name, const InstalledDefinitionRef& installed,
                                                  const std::shared_ptr<StandardStorage>& store) {
  const auto found = deletions_.find(name);
  if (found == deletions_.end() || found->second.installed != installed || queue_->shutting_down()) return nullptr;
  std::shared_ptr<SharedInformer>& rest = found->second.rest;
  if (rest != nullptr) return rest;
  rest = SharedInformer::make("objects of " + name, list_watch(store), host_.logger());
  ResourceEventHandler handler;
  handler.on_delete = [queue = queue_, name, weak = std::weak_ptr<SharedInformer>(rest)](const ObjectRef&, bool) {
    const auto informer = weak.lock();
    if (informer != nullptr && informer->indexer().size() == 0) queue->add(name);
  };
  rest->add_event_handler(std::move(handler));
  host_.spawn("crd-finalizer/" + name, rest->run());
  return rest;
}

}  // namespace backplane::apiextensions
