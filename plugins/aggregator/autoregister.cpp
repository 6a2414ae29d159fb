#include "autoregister.hpp"

namespace backplane {
namespace {

constexpr std::string_view kManagedLabel = "kube-aggregator.kubernetes.io/automanaged";
constexpr std::size_t kAtOnce = 64;

// Calls of the plugin itself: no admission, no user's rights.
void as_system(RequestContext& context) {
  context.user.name = "system:apiserver";
  context.user.groups = {"system:masters"};
}

// The aggregator's own group is not registered with itself.
bool is_registered(const GroupVersion& version) { return version.group != "apiregistration.k8s.io"; }

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

void Autoregister::want(const GroupVersionInfo& info) {
  if (!is_registered(info.group_version) || info.forwarded) return;
  const std::string name = apiservice_name(info.group_version);
  wanted_[name] = info;
  dirty_.insert(name);
}

void Autoregister::changed(const GroupVersionsChange& change) {
  {
    const std::lock_guard lock(mutex_);
    for (const GroupVersionInfo& info : change.served) want(info);
    for (const GroupVersion& version : change.gone) {
      const std::string name = apiservice_name(version);
      wanted_.erase(name);
      dirty_.insert(name);
    }
  }
  wakeup_.give();
}

Task<Status> Autoregister::note_all() {
  RequestContext context;
  as_system(context);
  ListOptions options;
  auto listed = co_await store_->list(context, options);
  if (!listed.ok()) co_return std::move(listed.status());
  std::vector<std::string> names;
  auto reading = for_each(*listed->items, [&](const ObjectEntry& entry) { names.push_back(entry.name); });
  Status read = co_await std::move(reading);
  if (!read.ok()) co_return read;
  const std::lock_guard lock(mutex_);
  dirty_.insert(names.begin(), names.end());
  co_return Status();
}

Task<Status> Autoregister::start(LoopbackClient& client) {
  remotes_.use(client);
  {
    const std::lock_guard lock(mutex_);
    for (const GroupVersionInfo& info : host_.group_versions()) want(info);
  }
  Status settled = co_await settle();
  if (settled.ok()) complete_.store(true, std::memory_order_release);
  co_return settled;
}

Task<Status> Autoregister::settle() {
  for (;;) {
    std::vector<std::string> names;
    {
      const std::lock_guard lock(mutex_);
      while (!dirty_.empty() && names.size() < kAtOnce) names.push_back(std::move(dirty_.extract(dirty_.begin()).value()));
    }
    if (names.empty()) co_return Status();
    std::vector<Status> outcomes(names.size());
    Promise<bool> done;
    auto left = std::make_shared<std::atomic<std::size_t>>(names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      spawn_detached(*current_executor(), settle_one(names[i], outcomes[i]), [done, left] {
        if (--*left == 0) done.set(true);
      });
    }
    auto all = done.future();
    co_await all;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (outcomes[i].ok()) continue;
      const std::lock_guard lock(mutex_);
      dirty_.insert(names.begin() + static_cast<std::ptrdiff_t>(i), names.end());
      co_return outcomes[i];
    }
  }
}

Task<void> Autoregister::settle_one(std::string name, Status& out) {
  try {
    auto checking = check(std::move(name));
    out = co_await std::move(checking);
  } catch (const std::exception& thrown) {
    out = internal_error(thrown.what());
  }
}

// What becomes of the APIService of that name (autoRegisterController.checkAPIService).
Task<Status> Autoregister::check(std::string name) {
  std::optional<GroupVersionInfo> wanted;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = wanted_.find(name); found != wanted_.end()) wanted = found->second;
  }
  RequestContext context;
  as_system(context);
  GetOptions options;
  auto found = co_await store_->get(context, name, options);
  if (!found.ok() && found.status().reason() != Reason::kNotFound) co_return std::move(found.status());
  if (!found.ok()) {
    remotes_.forget(name);
    if (!wanted) co_return Status();
    co_return co_await create(std::move(*wanted));
  }
  Object object = decode(**found, context.arena());
  // One that somebody made by hand stays as it is; one of ours goes with what it stands for, but not before everybody has been heard.
  if (is_managed(object) && !wanted && host_.groups_complete().fired()) {
    std::string uid(meta_text(object, "uid"));
    co_return co_await remove(std::move(name), std::move(uid));
  }
  if (is_managed(object) && wanted && !spec_is(object, *wanted)) {
    fill_spec(object, *wanted);
    Replacement replacement(object);
    WriteOptions write;
    auto updated = co_await store_->update(context, name, replacement, write, false);
    if (!updated.ok()) co_return std::move(updated.status());
    object = decode(*updated->object, context.arena());
  }
  co_return co_await refresh_condition(std::move(object));
}

Task<Status> Autoregister::create(GroupVersionInfo info) {
  RequestContext context;
  as_system(context);
  Object object(context.arena());
  object["kind"] = "APIService";
  object["apiVersion"] = "apiregistration.k8s.io/v1";
  Object& metadata = ensure_object(object, "metadata");
  metadata["name"] = apiservice_name(info.group_version);
  // Those of custom resources are kept right all the time; the others were so at the start.
  ensure_object(metadata, "labels")[kManagedLabel] = info.published ? "true" : "onstart";
  fill_spec(object, info);
  WriteOptions options;
  auto created = co_await store_->create(context, object, options);
  if (!created.ok()) {
    const bool exists = created.status().reason() == Reason::kAlreadyExists;
    co_return exists ? Status() : std::move(created.status());
  }
  Object fresh = decode(**created, context.arena());
  co_return co_await refresh_condition(std::move(fresh));
}

Task<Status> Autoregister::refresh_condition(Object object) {
  auto looking = availability(object);
  const Availability wanted = co_await std::move(looking);
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

Task<Availability> Autoregister::availability(const Object& object) {
  if (service_of(object) == nullptr) {
    remotes_.forget(std::string(meta_name(object)));
    co_return Availability{"True", "Local", "Local APIServices are always available"};
  }
  remotes_.note(object);
  auto looking = remotes_.availability(object);
  co_return co_await std::move(looking);
}

Task<Status> Autoregister::remove(std::string name, std::string uid) {
  RequestContext context;
  as_system(context);
  DeleteOptions options;
  options.preconditions.uid = std::move(uid);
  auto removed = co_await store_->remove(context, std::move(name), options);
  const bool gone = !removed.ok() && (removed.status().reason() == Reason::kNotFound || removed.status().reason() == Reason::kConflict);
  if (!removed.ok() && !gone) co_return std::move(removed.status());
  co_return Status();
}

Task<void> Autoregister::run() {
  constexpr std::chrono::seconds kRetry{1};
  bool all_heard = false;
  while (!host_.stop_signal().fired()) {
    Status status;
    // What nobody serves is known now; it has been left alone so far.
    if (!all_heard && host_.groups_complete().fired()) {
      status = co_await note_all();
      all_heard = status.ok();
    }
    if (status.ok()) status = co_await settle();
    if (!status.ok()) {
      host_.logger().warn("APIServices could not be brought up to date; trying again: " + status.message());
      co_await sleep_for(kRetry);
      continue;
    }
    co_await wakeup_.wait();
  }
}

Task<void> Autoregister::recheck() {
  constexpr std::chrono::seconds kPeriod{2};
  Sleeper sleeper(host_.stop_signal());
  for (;;) {
    const bool slept = co_await sleeper.sleep(kPeriod);
    if (!slept) co_return;
    const std::vector<std::string> names = remotes_.names();
    if (names.empty()) continue;
    {
      const std::lock_guard lock(mutex_);
      dirty_.insert(names.begin(), names.end());
    }
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
      {
        const std::lock_guard lock(mutex_);
        for (const WatchEvent& event : *events) {
          if (event.object != nullptr && !event.object->name.empty()) dirty_.insert(event.object->name);
        }
      }
      wakeup_.give();
    }
  }
}

}  // namespace backplane
