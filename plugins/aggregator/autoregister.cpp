#include "autoregister.hpp"

#include <map>

namespace backplane {
namespace {

constexpr std::string_view kManagedLabel = "kube-aggregator.kubernetes.io/automanaged";

// Calls of the plugin itself: no admission, no user's rights.
void as_system(RequestContext& context) {
  context.user.name = "system:apiserver";
  context.user.groups = {"system:masters"};
}

std::string apiservice_name(const GroupVersion& version) { return version.version + "." + version.group; }

void fill_spec(Object& object, const GroupVersionInfo& info) {
  Object& spec = ensure_object(object, "spec");
  if (!info.group_version.group.empty()) spec["group"] = info.group_version.group;
  spec["version"] = info.group_version.version;
  spec["groupPriorityMinimum"] = info.group_priority_minimum;
  spec["versionPriority"] = info.version_priority;
}

bool spec_is(const Object& object, const GroupVersionInfo& info) {
  const Object* spec = get_object(object, "spec");
  return spec && get_int(*spec, "groupPriorityMinimum") == info.group_priority_minimum &&
         get_int(*spec, "versionPriority") == info.version_priority && !find(*spec, "service");
}

bool is_managed(const Object& object) {
  const Object* metadata = get_object(object, "metadata");
  const Object* labels = metadata ? get_object(*metadata, "labels") : nullptr;
  return labels && find(*labels, kManagedLabel);
}

// Replaces the stored object by the one given, whatever it is now.
class Replacement final : public UpdatedObjectInfo {
 public:
  explicit Replacement(const Object& object) : object_(object) {}
  Task<Result<Object>> updated_object(RequestContext& context, const Object* existing) override {
    if (existing == nullptr) co_return Status(Reason::kNotFound, "the APIService is gone");
    co_return Object(object_, context.arena());
  }

 private:
  const Object& object_;
};

}  // namespace

void Wakeup::give() {
  std::unique_ptr<Promise<bool>> waiter;
  {
    std::lock_guard lock(mutex_);
    if (waiter_) {
      waiter = std::move(waiter_);
    } else {
      given_ = true;
    }
  }
  if (waiter) waiter->set(true);
}

Task<void> Wakeup::wait() {
  Promise<bool> promise;
  {
    std::lock_guard lock(mutex_);
    if (given_) {
      given_ = false;
      co_return;
    }
    waiter_ = std::make_unique<Promise<bool>>(promise);
  }
  co_await promise.future();
}

Task<Status> Autoregister::sync() {
  RequestContext context;
  as_system(context);
  ListOptions options;
  auto listed = co_await store_->list(context, options);
  if (!listed.ok()) co_return std::move(listed.status());
  std::map<std::string, Object, std::less<>> existing;
  auto reading = for_each(*listed->items, [&](const ObjectEntry& entry) { existing.emplace(entry.name, decode(entry, context.arena())); });
  Status read = co_await std::move(reading);
  if (!read.ok()) co_return read;

  std::map<std::string, GroupVersionInfo> wanted;
  for (auto& info : host_.group_versions()) {
    // The aggregator's own group is not registered with itself.
    if (info.group_version.group != "apiregistration.k8s.io") wanted.emplace(apiservice_name(info.group_version), info);
  }
  for (const auto& [name, info] : wanted) {
    const auto found = existing.find(name);
    const Object* before = found == existing.end() ? nullptr : &found->second;
    Status status = co_await register_version(info, before);
    if (!status.ok()) co_return status;
  }
  for (const auto& [name, object] : existing) {
    if (wanted.count(name)) continue;
    Status status;
    if (is_managed(object)) {
      status = co_await remove(name);
    } else {
      status = co_await refresh_condition(object);
    }
    if (!status.ok()) co_return status;
  }
  complete_.store(true, std::memory_order_release);
  co_return Status();
}

Task<Status> Autoregister::register_version(GroupVersionInfo info, const Object* existing) {
  RequestContext context;
  as_system(context);
  if (existing == nullptr) {
    Object object(context.arena());
    object["kind"] = "APIService";
    object["apiVersion"] = "apiregistration.k8s.io/v1";
    Object& metadata = ensure_object(object, "metadata");
    metadata["name"] = apiservice_name(info.group_version);
    ensure_object(metadata, "labels")[kManagedLabel] = "onstart";
    fill_spec(object, info);
    WriteOptions options;
    auto created = co_await store_->create(context, object, options);
    if (!created.ok()) co_return std::move(created.status());
    Object fresh = decode(**created, context.arena());
    co_return co_await refresh_condition(std::move(fresh));
  }
  Object object(*existing, context.arena());
  // An APIService that somebody made by hand stays as it is; one of ours follows the plugin's priorities.
  if (is_managed(object) && !spec_is(object, info)) {
    fill_spec(object, info);
    Replacement replacement(object);
    WriteOptions options;
    auto updated = co_await store_->update(context, apiservice_name(info.group_version), replacement, options, false);
    if (!updated.ok()) co_return std::move(updated.status());
    object = decode(*updated->object, context.arena());
  }
  co_return co_await refresh_condition(std::move(object));
}

Task<Status> Autoregister::refresh_condition(Object object) {
  const Availability wanted = availability_of_apiservice(object);
  if (has_availability(object, wanted)) co_return Status();
  RequestContext context;
  as_system(context);
  set_availability(object, wanted);
  Replacement replacement(object);
  WriteOptions options;
  const std::string name(meta_name(object));
  auto updated = co_await status_->update(context, name, replacement, options, false);
  const bool gone = !updated.ok() && (updated.status().reason() == Reason::kNotFound || updated.status().reason() == Reason::kConflict);
  if (!updated.ok() && !gone) co_return std::move(updated.status());
  co_return Status();
}

Task<Status> Autoregister::remove(std::string name) {
  RequestContext context;
  as_system(context);
  DeleteOptions options;
  auto removed = co_await store_->remove(context, std::move(name), options);
  if (!removed.ok() && removed.status().reason() != Reason::kNotFound) co_return std::move(removed.status());
  co_return Status();
}

Task<void> Autoregister::run() {
  constexpr std::chrono::seconds kRetry{1};
  while (!host_.stop_signal().fired()) {
    co_await wakeup_.wait();
    if (host_.stop_signal().fired()) break;
    Status status = co_await sync();
    if (status.ok()) continue;
    host_.logger().warn("APIServices could not be brought up to date; trying again: " + status.message());
    co_await sleep_for(kRetry);
    wakeup_.give();
  }
}

Task<void> Autoregister::watch() {
  while (!host_.stop_signal().fired()) {
    RequestContext context;
    as_system(context);
    ListOptions options;
    options.watch = true;
    auto opened = co_await store_->watch(context, options);
    if (!opened.ok()) co_return;
    std::shared_ptr<WatchStream> stream = std::move(*opened);
    host_.stop_signal().on_fire([weak = std::weak_ptr<WatchStream>(stream)] {
      if (auto live = weak.lock()) live->cancel();
    });
    while (true) {
      auto events = co_await stream->next();
      if (!events.ok() || events->empty()) break;
      wakeup_.give();
    }
  }
}

}  // namespace backplane
