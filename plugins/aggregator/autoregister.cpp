#include "autoregister.hpp"

namespace backplane {
namespace {

constexpr std::string_view kManagedLabel = "kube-aggregator.kubernetes.io/automanaged";
// So many are written side by side; the store commits them together.
constexpr int kWorkers = 64;
constexpr std::chrono::milliseconds kFirstPause{50};
constexpr std::chrono::seconds kLongestPause{30};

// Calls of the plugin itself: no admission, no user's rights.
void as_system(RequestContext& context) {
  context.user = UserInfo{"system:apiserver", "", {"system:masters"}, {}};
  context.user_agent = "kube-apiserver";
}

// The aggregator's own group is not registered with itself.
bool is_registered(const GroupVersion& version) { return version.group != "apiregistration.k8s.io"; }

// What an APIService is kept for.
bool is_kept(const GroupVersionInfo& info) { return is_registered(info.group_version) && !info.forwarded; }

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

Autoregister::Autoregister(Host& host, std::shared_ptr<StandardStorage> store, std::shared_ptr<Updater> status,
                           std::shared_ptr<DynamicGroups> groups)
    : host_(host),
      store_(std::move(store)),
      status_(std::move(status)),
      apiservices_(SharedInformer::make("apiservices", list_watch(store_), host.logger())),
      queue_(std::make_shared<WorkQueue>(host.executor(), item_exponential_failure_rate_limiter(kFirstPause, kLongestPause))),
      remotes_(std::make_shared<RemoteServices>(
          host, std::move(groups), [this](std::string name, Availability found) { return report(std::move(name), std::move(found)); })) {}

void Autoregister::start_informer() {
  apiservices_->add_event_handler(enqueue_keys(queue_));
  host_.spawn("apiservice-informer", apiservices_->run());
}

void Autoregister::start_workers() { host_.spawn("apiservice-registration", begin()); }

void Autoregister::start_registration() {
  host_.on_group_versions_changed([weak = weak_from_this()](const GroupVersionsChange& change) {
    if (const auto live = weak.lock()) live->changed(change);
  });
  note_served();
  // What nobody serves has been left alone until then.
  host_.groups_complete().on_fire([weak = weak_from_this()] {
    if (const auto live = weak.lock()) live->note_all();
  });
}

void Autoregister::stop() {
  apiservices_->stop();
  queue_->shut_down();
  remotes_->stop();
  completed_.set(false);
}

Task<bool> Autoregister::wait_synced() {
  const auto self = shared_from_this();
  const bool synced = co_await apiservices_->wait_synced();
  co_return synced;
}

Task<bool> Autoregister::wait_complete() {
  const auto self = shared_from_this();
  const bool complete = co_await completed_.future();
  co_return complete;
}

Task<void> Autoregister::begin() {
  const auto self = shared_from_this();
  const bool synced = co_await apiservices_->wait_synced();
  if (!synced) co_return;
  spawn_workers(host_, "apiservice-registration", kWorkers, queue_, [self](std::string name) { return self->reconcile(std::move(name)); });
}

// ---- what is to be looked at

void Autoregister::note_served() {
  GroupVersionsChange all;
  all.served = host_.group_versions();
  for (const GroupVersionInfo& info : all.served) {
    if (is_kept(info)) first_.insert(apiservice_name(info.group_version));
  }
  noted_ = true;
  changed(all);
}

void Autoregister::note_all() {
  for (const std::string& name : apiservices_->indexer().list_keys()) queue_->add(name);
}

void Autoregister::changed(const GroupVersionsChange& change) {
  std::vector<std::string> names;
  {
    const std::lock_guard lock(mutex_);
    for (const GroupVersionInfo& info : change.served) {
      if (!is_kept(info)) continue;
      names.push_back(apiservice_name(info.group_version));
      wanted_[names.back()] = info;
    }
    for (const GroupVersion& version : change.gone) {
      names.push_back(apiservice_name(version));
      wanted_.erase(names.back());
    }
  }
  for (const std::string& name : names) queue_->add(name);
}

std::optional<GroupVersionInfo> Autoregister::wanted(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto found = wanted_.find(name);
  return found == wanted_.end() ? std::nullopt : std::optional<GroupVersionInfo>(found->second);
}

bool Autoregister::is_behind(const std::string& name) {
  const auto found = written_.find(name);
  if (found == written_.end()) return false;
  if (apiservices_->last_sync_revision() < found->second) return true;
  written_.erase(found);
  return false;
}

void Autoregister::settled(const std::string& name) {
  if (!noted_ || complete() || (first_.erase(name), !first_.empty())) return;
  complete_.store(true, std::memory_order_release);
  completed_.set(true);
}

// ---- one APIService

Task<Status> Autoregister::reconcile(std::string name) {
  // The event of that write brings the name back, unless it is lost together with what came behind it.
  constexpr std::chrono::seconds kPatience{5};
  if (is_behind(name)) {
    queue_->add_after(name, kPatience);
    co_return Status();
  }
  auto checking = check(name);
  Status checked = co_await std::move(checking);
  if (checked.ok()) settled(name);
  co_return checked;
}

// What becomes of the APIService of that name (autoRegisterController.checkAPIService).
Task<Status> Autoregister::check(std::string name) {
  std::optional<GroupVersionInfo> served = wanted(name);
  const ObjectRef known = apiservices_->indexer().get(name);
  if (known == nullptr) {
    remotes_->forget(name);
    count_no_more(name);
    if (!served) co_return Status();
    co_return co_await create(std::move(*served));
  }
  RequestContext context;
  as_system(context);
  Object object = decode(*known, context.arena());
  // One that somebody made by hand stays as it is; one of ours goes with what it stands for, but not before everybody has been heard.
  if (is_managed(object) && !served && host_.groups_complete().fired()) {
    std::string uid(meta_text(object, "uid"));
    co_return co_await remove(std::move(name), std::move(uid));
  }
  if (is_managed(object) && served && !spec_is(object, *served)) {
    fill_spec(object, *served);
    Replacement replacement(object);
    WriteOptions write;
    auto updated = co_await store_->update(context, name, replacement, write, false);
    if (!updated.ok()) co_return std::move(updated.status());
    written_[name] = updated->object->revision;
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
  written_[(*created)->name] = (*created)->revision;
  Object fresh = decode(**created, context.arena());
  co_return co_await refresh_condition(std::move(fresh));
}

Task<Status> Autoregister::refresh_condition(Object object) {
  if (service_of(object) != nullptr) {
    remotes_->note(object);
    co_return Status();
  }
  const std::string name(meta_name(object));
  remotes_->forget(name);
  count_availability(name, true);
  auto writing = write_condition(std::move(object), local_availability());
  co_return co_await std::move(writing);
}

Task<Status> Autoregister::report(std::string name, Availability availability) {
  const auto self = shared_from_this();
  const ObjectRef known = apiservices_->indexer().get(name);
  if (known == nullptr) co_return Status();
  Object object = decode(*known, json::storage_ptr());
  if (service_of(object) == nullptr) co_return Status();
  auto writing = write_condition(std::move(object), std::move(availability));
  co_return co_await std::move(writing);
}

Task<Status> Autoregister::write_condition(Object object, Availability wanted) {
  if (has_availability(object, wanted)) co_return Status();
  RequestContext context;
  as_system(context);
  context.info.subresource = "status";
  set_availability(object, wanted);
  Replacement replacement(object);
  WriteOptions options;
  const std::string name(meta_name(object));
  auto updated = co_await status_->update(context, name, replacement, options, false);
  const bool gone = !updated.ok() && (updated.status().reason() == Reason::kNotFound || updated.status().reason() == Reason::kConflict);
  if (!updated.ok() && !gone) co_return std::move(updated.status());
  if (updated.ok()) written_[name] = updated->object->revision;
  co_return Status();
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

}  // namespace backplane
