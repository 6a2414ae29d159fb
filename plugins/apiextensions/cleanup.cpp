// What the deletion of a definition takes with it: every object of the resource, then the finalizer (CRDFinalizer).
#include <algorithm>

#include "controller.hpp"
#include "definition.hpp"

namespace backplane::apiextensions {
namespace {

constexpr std::chrono::milliseconds kRetry{1000};

Condition terminating(std::string status, std::string reason, std::string message) {
  return {"Terminating", std::move(status), std::move(reason), std::move(message)};
}

void remove_finalizer(Object& crd, std::string_view finalizer) {
  std::vector<std::string> finalizers = ObjectMeta(crd).finalizers();
  finalizers.erase(std::remove(finalizers.begin(), finalizers.end(), finalizer), finalizers.end());
  ObjectMeta(crd).set_finalizers(finalizers);
}

// Gone, or made anew under the same name: nothing of this definition is left to do.
bool is_gone(const Status& status) { return status.reason() == Reason::kNotFound || status.reason() == Reason::kConflict; }

}  // namespace

void Controller::begin_cleanup(const std::string& name, const Entry& entry, const Object& crd) {
  if (!has_finalizer(crd, kCleanupFinalizer)) return;
  {
    std::lock_guard lock(mutex_);
    if (stopping() || !cleaning_.insert(name).second) return;
  }
  parts_.host->spawn("crd-finalizer/" + name, cleanup(name, std::string(meta_text(crd, "uid")), entry.installed));
}

Task<void> Controller::cleanup(std::string name, std::string uid, InstalledRef installed) {
  const auto self = shared_from_this();
  while (!stopping()) {
    Status cleaned = co_await clean_once(name, uid, installed);
    if (cleaned.ok() || is_gone(cleaned)) break;
    parts_.host->logger().warn("objects of a deleted definition remain name=" + quoted(name) + " reason=" + quoted(cleaned.message()));
    co_await pause(kRetry);
  }
  std::lock_guard lock(mutex_);
  cleaning_.erase(name);
}

Task<Status> Controller::clean_once(std::string name, std::string uid, InstalledRef installed) {
  auto beginning = write(name, uid, [](Object& crd) {
    set_condition(crd, terminating("True", "InstanceDeletionInProgress", "CustomResource deletion is in progress"));
  });
  auto begun = co_await std::move(beginning);
  if (!begun.ok()) co_return std::move(begun.status());
  Status removed;
  if (installed != nullptr) removed = co_await remove_instances(installed);
  if (stopping()) co_return Status();
  if (!removed.ok()) {
    const std::string why = "could not issue all deletes: " + removed.message();
    auto noting = write(name, uid, [why](Object& crd) { set_condition(crd, terminating("True", "InstanceDeletionFailed", why)); });
    auto noted = co_await std::move(noting);
    if (!noted.ok()) co_return std::move(noted.status());
    co_return removed;
  }
  const bool served = installed != nullptr;
  auto finishing = write(name, uid, [served](Object& crd) {
    set_condition(crd, served ? terminating("False", "InstanceDeletionCompleted", "removed all instances")
                              : terminating("False", "NeverEstablished", "resource was never established"));
    remove_finalizer(crd, kCleanupFinalizer);
  });
  auto finished = co_await std::move(finishing);
  if (!finished.ok()) co_return std::move(finished.status());
  co_return Status();
}

Task<Status> Controller::remove_instances(InstalledRef installed) {
  StandardStorage& store = *installed->store;
  {
    RequestContext context;
    DeleteOptions at_once;
    ListOptions everything;
    auto removed = co_await store.remove_collection(context, std::move(at_once), std::move(everything));
    if (!removed.ok()) co_return std::move(removed.status());
  }
  // Objects with finalizers stay until somebody has dealt with them.
  while (!stopping()) {
    RequestContext context;
    ListOptions one;
    one.limit = 1;
    auto left = co_await store.list(context, std::move(one));
    if (!left.ok()) co_return std::move(left.status());
    auto reading = left->items->next();
    auto first = co_await std::move(reading);
    if (!first.ok()) co_return std::move(first.status());
    if (first->empty()) co_return Status();
    auto stream = co_await open_stream(store, left->revision);
    if (!stream.ok()) co_return std::move(stream.status());
    auto events = co_await (*stream)->next();
    if (!events.ok()) co_return std::move(events.status());
  }
  co_return Status();
}

}  // namespace backplane::apiextensions
