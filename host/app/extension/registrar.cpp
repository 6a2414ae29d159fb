#include "app/extension/registrar.hpp"

#include <algorithm>

#include "backplane/core/json_access.hpp"
#include "backplane/net/informer.hpp"

namespace backplane {
namespace {

constexpr std::chrono::milliseconds kFirstPause{200};
constexpr std::chrono::seconds kLongestPause{15};
// The objects are also applied at this interval, for an outer server that grants no watch.
constexpr std::chrono::seconds kPeriod{60};
constexpr std::string_view kManagedBy = "app.kubernetes.io/managed-by";
constexpr std::string_view kKey = "registration";

std::string path_of(const RegisteredObject& each) {
  const auto& resource = each.resource;
  std::string path = resource.group.empty() ? "/api/" + resource.version : "/apis/" + resource.group + "/" + resource.version;
  if (!each.ns.empty()) path += "/namespaces/" + each.ns;
  return path + "/" + resource.resource + "/" + each.name;
}

// "namespace/name" of the Service in an APIService; empty for other objects.
std::string service_of(const Object& object) {
  const Object& service = object_or_empty(object_or_empty(object, "spec"), "service");
  return object_key(get_string(service, "namespace"), get_string(service, "name"));
}

Status with_object(Status status, const RegisteredObject& each) {
  return Status(status.reason(), each.resource.resource + " " + backplane::quoted(each.name) + ": " + status.message());
}

}  // namespace

Registrar::Registrar(std::shared_ptr<ApiClient> outer, Objects objects, Logger& logger)
    : outer_(std::move(outer)), objects_(std::move(objects)), logger_(logger) {}

void Registrar::start(TaskGroup& tasks, Executor& executor, Signal& stop) {
  queue_ = std::make_shared<WorkQueue>(executor, item_exponential_failure_rate_limiter(kFirstPause, kLongestPause));
  stop.on_fire([queue = queue_] { queue->shut_down(); });
  const auto reconcile = [self = shared_from_this()](std::string) { return self->apply_all(); };
  tasks.spawn(executor, "registration", run_worker(queue_, reconcile, logger_, "registration"));
  queue_->add(std::string(kKey));
  std::vector<std::pair<GroupVersionResource, std::string>> followed;
  for (const RegisteredObject& each : objects_()) {
    const auto same = [&](const auto& other) { return other.first == each.resource && other.second == each.ns; };
    if (std::any_of(followed.begin(), followed.end(), same)) continue;
    followed.emplace_back(each.resource, each.ns);
    follow(each.resource, each.ns, tasks, executor, stop);
  }
}

void Registrar::follow(const GroupVersionResource& resource, const std::string& ns, TaskGroup& tasks, Executor& executor, Signal& stop) {
  auto informer = SharedInformer::make("registered " + resource.resource, list_watch(outer_, resource, ns), logger_);
  ResourceEventHandler handler;
  const auto changed = [queue = queue_, resource, self = std::weak_ptr(shared_from_this())](const ObjectRef& object) {
    const auto registrar = self.lock();
    if (registrar && registrar->is_ours(resource, object_key(*object))) queue->add(std::string(kKey));
  };
  handler.on_update = [changed](const ObjectRef& old, const ObjectRef& now) {
    if (old != now) changed(now);
  };
  handler.on_delete = [changed](const ObjectRef& last, bool) { changed(last); };
  informer->add_event_handler(std::move(handler));
  tasks.spawn(executor, "registered " + resource.resource, informer->run());
  stop.on_fire([informer] { informer->stop(); });
}

void Registrar::apply_soon() { queue_->add(std::string(kKey)); }

bool Registrar::is_ours(const GroupVersionResource& resource, const std::string& key) const {
  const auto objects = objects_();
  return std::any_of(objects.begin(), objects.end(),
                     [&](const RegisteredObject& each) { return each.resource == resource && object_key(each.ns, each.name) == key; });
}

Task<Status> Registrar::apply_all() {
  auto waiting = turns_.take();
  const Turns::Turn turn = co_await std::move(waiting);
  if (queue_->shutting_down()) co_return Status();
  const auto objects = objects_();
  Status result;
  for (const RegisteredObject& each : objects) {
    Status applied = co_await apply(each);
    if (!applied.ok() && result.ok()) result = with_object(std::move(applied), each);
  }
  const std::lock_guard lock(mutex_);
  state_ = result;
  if (result.ok()) {
    if (!complete_) logger_.info("registered with the outer server objects=" + std::to_string(objects.size()));
    complete_ = true;
    queue_->add_after(std::string(kKey), kPeriod);
  }
  co_return result;
}

Task<Status> Registrar::apply(const RegisteredObject& each) {
  Status free = co_await check_free(each);
  if (!free.ok()) co_return free;
  HttpCall call;
  call.method = "PATCH";
  call.target = path_of(each) + "?fieldManager=" + std::string(kRunner) + "&force=true";
  call.headers.emplace_back("Content-Type", "application/apply-patch+yaml");
  call.body = to_json(each.object);
  auto applying = outer_->request(std::move(call));
  auto applied = co_await std::move(applying);
  co_return applied.ok() ? Status() : std::move(applied).status();
}

// kConflict if the object belongs to the outer server, a user, or the runner of another service.
Task<Status> Registrar::check_free(const RegisteredObject& each) {
  auto reading = outer_->get(each.resource, each.ns, each.name);
  auto found = co_await std::move(reading);
  if (!found.ok()) co_return found.status().reason() == Reason::kNotFound ? Status() : std::move(found).status();
  const Object& labels = object_or_empty(object_or_empty(*found, "metadata"), "labels");
  const std::string theirs = service_of(*found), ours = service_of(each.object);
  if (get_string(labels, kManagedBy) == kRunner && theirs == ours) co_return Status();
  std::string why = "it exists and is not labelled " + std::string(kManagedBy) + "=" + std::string(kRunner);
  if (!theirs.empty() && theirs != ours) why = "service " + theirs + " serves this group version";
  if (!ours.empty() && theirs.empty()) why = "the outer server serves this group version itself";
  co_return conflict(each.resource.group, each.resource.resource, each.name, why + "; delete it, or set --service-name");
}

Task<Status> Registrar::remove() {
  queue_->shut_down();
  auto waiting = turns_.take();
  const Turns::Turn turn = co_await std::move(waiting);
  const auto objects = objects_();
  Status result;
  for (auto each = objects.rbegin(); each != objects.rend(); ++each) {
    Status status = co_await remove(*each);
    if (!status.ok() && result.ok()) result = with_object(std::move(status), *each);
  }
  co_return result;
}

Task<Status> Registrar::remove(const RegisteredObject& each) {
  Status free = co_await check_free(each);
  if (free.reason() == Reason::kConflict) co_return Status();  // it does not belong to this runner
  if (!free.ok()) co_return free;
  auto removing = outer_->remove(each.resource, each.ns, each.name);
  auto removed = co_await std::move(removing);
  const bool gone = removed.ok() || removed.status().reason() == Reason::kNotFound;
  co_return gone ? Status() : std::move(removed).status();
}

Status Registrar::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

}  // namespace backplane
