#include "autoregister.hpp"
#include "backplane/rest/update_info.hpp"

namespace backplane {
namespace {

constexpr std::string_view kManagedLabel = "kube-aggregator.kubernetes.io/automanaged";
constexpr std::string_view kOnStart = "onstart", kAlways = "true";
constexpr const char* kDefinitions = "v1.apiextensions.k8s.io";
// The number of concurrent writes, which the store commits together.
constexpr int kWorkers = 64;
constexpr std::chrono::milliseconds kFirstPause{50};
constexpr std::chrono::seconds kLongestPause{30};

// Sets the user of calls by the plugin to its storages, which run without admission and authorization.
void as_system(RequestContext& context) {
  context.user = UserInfo{"system:apiserver", "", {"system:masters"}, {}};
  context.user_agent = "kube-apiserver";
}

// The aggregator's own group is not registered with itself.
bool is_registered(const GroupVersion& version) { return version.group != "apiregistration.k8s.io"; }

// Returns true if the plugin maintains an APIService for this group version: this server serves it, and it is not the aggregator's own.
bool is_kept(const GroupVersionInfo& info) { return is_registered(info.group_version) && !info.forwarded; }

std::string apiservice_name(const GroupVersion& version) { return version.version + "." + version.group; }

void fill_spec(Object& object, const GroupVersionInfo& info) {
  Object& spec = object["spec"].emplace_object();
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

std::string managed_label(const Object& object) {
  const Object* metadata = get_object(object, "metadata");
  const Object* labels = metadata ? get_object(*metadata, "labels") : nullptr;
  return labels ? std::string(get_string(*labels, kManagedLabel)) : std::string();
}

// APIServices of custom resources are always maintained, the others only at startup.
std::string_view label_of(const GroupVersionInfo& info) { return info.published ? kAlways : kOnStart; }

bool same_registration(const GroupVersionInfo& left, const GroupVersionInfo& right) {
  return left.published == right.published && left.group_priority_minimum == right.group_priority_minimum &&
         left.version_priority == right.version_priority;
}

// Replaces the stored object, without a precondition.
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

Registration registration(const RegistrationCase& now) {
  const bool once = now.desired == kOnStart;
  if (once && now.synced) return Registration::kNothing;
  if (!now.exists) return now.desired.empty() ? Registration::kNothing : Registration::kCreate;
  if (now.label != kOnStart && now.label != kAlways) return Registration::kNothing;
  if (now.label == kOnStart && (!now.was_there || now.synced)) return Registration::kNothing;
  if (now.desired.empty()) return Registration::kRemove;
  return now.spec_matches ? Registration::kNothing : Registration::kUpdate;
}

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
  // When all groups are registered, examines all APIServices again, because those of group versions that are not served can be removed from
  // then on.
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
  {
    const std::lock_guard lock(mutex_);
    for (std::string& name : apiservices_->indexer().list_keys()) was_there_.insert(std::move(name));
  }
  spawn_workers(host_, "apiservice-registration", kWorkers, queue_, [self](std::string name) { return self->reconcile(std::move(name)); });
}

// ---- selection of APIServices

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
    // An APIService of a former group version is updated or removed once more, regardless of the client that created it.
    const auto reopen = [this](const std::string& name) {
      synced_.erase(name);
      was_wanted_.insert(name);
    };
    for (const GroupVersionInfo& info : change.served) {
      if (!is_kept(info)) continue;
      names.push_back(apiservice_name(info.group_version));
      const auto [known, fresh] = wanted_.try_emplace(names.back(), info);
      if (fresh) synced_.erase(names.back());
      if (!fresh && !same_registration(known->second, info)) reopen(names.back());
      known->second = info;
    }
    for (const GroupVersion& version : change.gone) {
      names.push_back(apiservice_name(version));
      if (wanted_.erase(names.back()) > 0) reopen(names.back());
    }
  }
  for (const std::string& name : names) queue_->add(name);
}

Autoregister::Wanted Autoregister::wanted(const std::string& name) {
  const std::lock_guard lock(mutex_);
  Wanted out;
  if (const auto found = wanted_.find(name); found != wanted_.end()) out.info = found->second;
  out.synced = synced_.contains(name);
  out.was_there = was_there_.contains(name);
  out.was_wanted = was_wanted_.contains(name);
  out.knows_custom = wanted_.contains(kDefinitions);
  return out;
}

bool Autoregister::waits(const std::string& name, Registration change) {
  const auto pause = pauses_.claim(name, std::to_string(static_cast<int>(change)));
  if (pause.count() > 0) queue_->add_after(name, pause);
  return pause.count() > 0;
}

bool Autoregister::is_stale(const std::string& name) {
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
  // The informer does not have this server's last write yet. The event of that write adds the name to the queue again; the timer is for the
  // case that the event is lost.
  constexpr std::chrono::seconds kRecheckDelay{5};
  if (is_stale(name)) {
    queue_->add_after(name, kRecheckDelay);
    co_return Status();
  }
  auto checking = check(name);
  Status checked = co_await std::move(checking);
  if (checked.ok()) settled(name);
  co_return checked;
}

Task<Status> Autoregister::check(std::string name) {
  const Wanted wanted = this->wanted(name);
  // Until every delegate has published its groups, a missing group may be published later.
  const bool complete = host_.groups_complete().fired();
  const ObjectRef known = apiservices_->indexer().get(name);
  RequestContext context;
  as_system(context);
  Object object(context.arena());
  RegistrationCase now;
  now.exists = known != nullptr;
  now.synced = wanted.synced;
  now.was_there = wanted.was_there || wanted.was_wanted;
  if (wanted.info) now.desired = label_of(*wanted.info);
  std::string label;
  if (known != nullptr) {
    object = decode(*known, context.arena());
    label = managed_label(object);
    now.label = label;
    now.spec_matches = wanted.info && spec_is(object, *wanted.info);
  }
  Registration change = registration(now);
  // A server that does not serve CustomResourceDefinitions has no list of the custom groups of other servers.
  const bool known_to_be_gone = complete && (label == kOnStart || wanted.knows_custom || wanted.was_wanted);
  if (change == Registration::kRemove && !known_to_be_gone) change = Registration::kNothing;
  if (change != Registration::kNothing && wanted.synced && waits(name, change)) change = Registration::kNothing;
  if (known == nullptr) {
    remotes_->forget(name);
    count_no_more(name);
  }
  auto changing = apply(change, name, object, wanted.info);
  Status changed = co_await std::move(changing);
  if (!changed.ok()) co_return changed;
  if (wanted.info || complete) {
    const std::lock_guard lock(mutex_);
    synced_.insert(name);
  }
  if (known == nullptr || change == Registration::kRemove) co_return Status();
  auto refreshing = refresh_condition(std::move(object));
  co_return co_await std::move(refreshing);
}

Task<Status> Autoregister::apply(Registration change, const std::string& name, Object& object,
                                 const std::optional<GroupVersionInfo>& info) {
  switch (change) {
    case Registration::kNothing:
      co_return Status();
    case Registration::kCreate:
      co_return co_await create(*info);
    case Registration::kUpdate:
      co_return co_await correct(object, *info);
    case Registration::kRemove:
      co_return co_await remove(name, std::string(meta_text(object, "uid")));
  }
  co_return Status();
}

Task<Status> Autoregister::correct(Object& object, const GroupVersionInfo& info) {
  RequestContext context;
  as_system(context);
  fill_spec(object, info);
  Replacement replacement(object);
  WriteOptions options;
  const std::string name(meta_name(object));
  auto updated = co_await store_->update(context, name, replacement, options, false);
  if (updated.ok()) {
    written_[name] = updated->object->revision;
    object = decode(*updated->object, object.storage());
    co_return Status();
  }
  // The event of the other write adds the name to the queue again.
  const bool moved = updated.status().reason() == Reason::kNotFound || updated.status().reason() == Reason::kConflict;
  co_return moved ? Status() : std::move(updated.status());
}

Task<Status> Autoregister::create(GroupVersionInfo info) {
  RequestContext context;
  as_system(context);
  Object object(context.arena());
  object["kind"] = "APIService";
  object["apiVersion"] = "apiregistration.k8s.io/v1";
  Object& metadata = ensure_object(object, "metadata");
  metadata["name"] = apiservice_name(info.group_version);
  ensure_object(metadata, "labels")[kManagedLabel] = label_of(info);
  fill_spec(object, info);
  WriteOptions options;
  auto created = co_await store_->create(context, object, options);
  if (!created.ok()) {
    const bool exists = created.status().reason() == Reason::kAlreadyExists;
    co_return exists ? Status() : std::move(created.status());
  }
  written_[std::string((*created)->name())] = (*created)->revision;
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
