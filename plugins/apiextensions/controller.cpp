#include "controller.hpp"

#include <algorithm>

#include "definition.hpp"

namespace backplane::apiextensions {
namespace {

constexpr std::chrono::milliseconds kRetry{1000};
constexpr std::size_t kWritesAtOnce = 64;

// A change of the stored definition, computed again when somebody else was faster.
class StatusChange final : public UpdatedObjectInfo {
 public:
  StatusChange(std::function<void(Object&)> change, std::string uid) : change_(std::move(change)), uid_(std::move(uid)) {}
  Task<Result<Object>> updated_object(RequestContext& context, const Object* existing) override {
    Object object = existing ? Object(*existing, context.arena()) : Object(context.arena());
    change_(object);
    co_return object;
  }
  Preconditions preconditions() const override {
    Preconditions wanted;
    if (!uid_.empty()) wanted.uid = uid_;
    return wanted;
  }

 private:
  std::function<void(Object&)> change_;
  std::string uid_;
};

bool protected_group(std::string_view group) {
  const auto ends = [&](std::string_view end) { return group.size() > end.size() && group.substr(group.size() - end.size()) == end; };
  return group == "k8s.io" || group == "kubernetes.io" || ends(".k8s.io") || ends(".kubernetes.io");
}

// KubernetesAPIApprovalPolicyConformant, for groups that need an approval.  Validation has seen to the form of the annotation.
std::optional<Condition> approval_condition(const Object& crd) {
  constexpr std::string_view kAnnotation = "api-approved.kubernetes.io";
  if (!protected_group(get_string(spec_of(crd), "group"))) return std::nullopt;
  const std::string text(get_string(object_or_empty(object_or_empty(crd, "metadata"), "annotations"), kAnnotation));
  const std::string type = "KubernetesAPIApprovalPolicyConformant";
  if (text.empty()) {
    return Condition{type, "False", "MissingAnnotation",
                     "protected groups must have approval annotation " + quoted(kAnnotation) +
                         ", see https://github.com/kubernetes/enhancements/pull/1111"};
  }
  if (text.rfind("unapproved", 0) == 0) return Condition{type, "False", "UnapprovedAnnotation", "not approved: " + quoted(text)};
  return Condition{type, "True", "ApprovedAnnotation", "approved in " + text};
}

}  // namespace

void Controller::Verdict::apply(Object& crd) const {
  if (accepted_names) ensure_object(crd, "status")["acceptedNames"] = *accepted_names;
  for (const Condition& condition : conditions) set_condition(crd, condition);
}

Controller::Verdict Controller::judge(const Object& crd, const TakenNames& taken) {
  Verdict verdict;
  bool accepted = condition_is_true(crd, "NamesAccepted");
  if (!names_settled(crd) || find_condition(crd, "NamesAccepted") == nullptr) {
    NamingResult naming = accept_names(crd, taken);
    accepted = naming.names_accepted();
    if (!has_condition(crd, naming.accepted_condition)) verdict.conditions.push_back(naming.accepted_condition);
    if (naming.accepted != accepted_names_of(crd)) verdict.accepted_names = std::move(naming.accepted);
  }
  if (!condition_is_true(crd, "Established")) {
    const Condition wanted = accepted ? Condition{"Established", "True", "InitialNamesAccepted", "the initial names have been accepted"}
                                      : Condition{"Established", "False", "NotAccepted", "not all names are accepted"};
    if (!has_condition(crd, wanted)) verdict.conditions.push_back(wanted);
  }
  if (auto approval = approval_condition(crd); approval && !has_condition(crd, *approval))
    verdict.conditions.push_back(std::move(*approval));
  return verdict;
}

// ---- following

Task<void> Controller::run() {
  while (!stopping()) {
    Status followed = co_await follow();
    if (stopping()) break;
    if (!followed.ok())
      parts_.host->logger().warn("following custom resource definitions begins anew reason=" + quoted(followed.message()));
    co_await pause(kRetry);
  }
}

void Controller::stop() {
  std::vector<std::shared_ptr<WatchStream>> streams;
  std::vector<Promise<bool>> pauses;
  {
    std::lock_guard lock(mutex_);
    stopping_.store(true, std::memory_order_release);
    for (const auto& stream : streams_) {
      if (auto alive = stream.lock()) streams.push_back(std::move(alive));
    }
    pauses.swap(pauses_);
  }
  for (const auto& stream : streams) stream->cancel();
  for (const auto& pause : pauses) pause.set(true);
}

Task<Result<std::shared_ptr<WatchStream>>> Controller::open_stream(StandardStorage& storage, Revision after) {
  RequestContext context;
  ListOptions options;
  options.watch = true;
  options.resource_version = std::to_string(after);
  auto opened = co_await storage.watch(context, std::move(options));
  if (!opened.ok()) co_return std::move(opened.status());
  std::shared_ptr<WatchStream> stream = std::move(*opened);
  std::lock_guard lock(mutex_);
  if (stopping()) co_return service_unavailable("the server is stopping");
  streams_.erase(std::remove_if(streams_.begin(), streams_.end(), [](const auto& old) { return old.expired(); }), streams_.end());
  streams_.push_back(stream);
  co_return stream;
}

Task<void> Controller::pause(std::chrono::milliseconds delay) {
  Promise<bool> woken;
  {
    std::lock_guard lock(mutex_);
    if (stopping()) co_return;
    pauses_.push_back(woken);
  }
  const std::function<void()> cancel = current_executor()->after(delay, [woken] { woken.set(true); });
  auto waiting = woken.future();
  co_await waiting;
  cancel();
  std::lock_guard lock(mutex_);
  // Whoever has been woken is no longer waiting; a set promise is harmless, but must not pile up.
  pauses_.erase(std::remove_if(pauses_.begin(), pauses_.end(), [](const Promise<bool>& p) { return p.future().await_ready(); }),
                pauses_.end());
}

Task<Status> Controller::follow() {
  auto revision = co_await load();
  if (!revision.ok()) co_return std::move(revision.status());
  co_await settle_pending();
  parts_.synced->fire();
  auto stream = co_await open_stream(*parts_.definitions, *revision);
  if (!stream.ok()) co_return std::move(stream.status());
  while (!stopping()) {
    auto events = co_await (*stream)->next();
    if (!events.ok()) co_return std::move(events.status());
    if (events->empty()) co_return service_unavailable("the watch has ended");
    co_await take(std::move(*events));
  }
  co_return Status();
}

Task<Result<Revision>> Controller::load() {
  RequestContext context;
  ListOptions everything;
  auto listed = co_await parts_.definitions->list(context, std::move(everything));
  if (!listed.ok()) co_return std::move(listed.status());
  std::set<std::string> seen;
  auto reading = for_each(*listed->items, [&](const ObjectEntry& entry) {
    seen.insert(entry.name);
    note(std::make_shared<const ObjectEntry>(entry));
  });
  Status read = co_await std::move(reading);
  if (!read.ok()) co_return read;
  std::vector<std::string> gone;
  for (const auto& [name, entry] : entries_) {
    if (seen.count(name) == 0) gone.push_back(name);
  }
  for (const std::string& name : gone) forget(name);
  co_return listed->revision;
}

Task<void> Controller::take(std::vector<WatchEvent> events) {
  for (const WatchEvent& event : events) {
    if (event.object == nullptr) continue;
    if (event.type == WatchEvent::Type::kAdded || event.type == WatchEvent::Type::kModified) note(event.object);
    if (event.type == WatchEvent::Type::kDeleted) forget(event.object->name);
  }
  co_await settle_pending();
}

void Controller::note(ObjectRef entry) {
  Entry& known = entries_[entry->name];
  if (known.stored != nullptr && known.stored->revision >= entry->revision) {
    // Our own write, which has been seen when it was made; but here it is the bytes that everybody shares.
    if (known.stored->revision == entry->revision) {
      known.stored = std::move(entry);
      if (known.installed != nullptr) known.installed->source->renew(known.stored);
    }
    return;
  }
  pending_.insert(entry->name);
  known.stored = std::move(entry);
}

void Controller::forget(const std::string& name) {
  const auto found = entries_.find(name);
  if (found == entries_.end()) return;
  retire(found->second);
  unindex(name, found->second);
  const auto group = groups_.find(found->second.group);
  if (group != groups_.end() && group->second.taken.empty() && group->second.unsettled.empty()) groups_.erase(group);
  entries_.erase(found);
  pending_.erase(name);
}

// ---- the names of a group

void Controller::index(const std::string& name, Entry& entry, const Object& crd) {
  const std::string group(get_string(spec_of(crd), "group"));
  GivenNames names = given_names(crd);
  const bool settled = names_settled(crd);
  if (group == entry.group && names == entry.names && settled == entry.settled) return;
  Group& all = groups_[group];
  all.taken.add(names);
  unindex(name, entry);
  if (!settled) all.unsettled.insert(name);
  entry.group = group;
  entry.names = std::move(names);
  entry.settled = settled;
}

void Controller::unindex(const std::string& name, const Entry& entry) {
  const auto group = groups_.find(entry.group);
  if (group == groups_.end()) return;
  group->second.unsettled.erase(name);
  group->second.taken.remove(entry.names);
  const auto is_free = [](const std::vector<std::string>& names, const TakenNames::Counts& taken) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& each) { return !taken.contains(each); });
  };
  // Somebody may have waited for a name that nobody has any more.
  if (is_free(entry.names.resources, group->second.taken.resources()) || is_free(entry.names.kinds, group->second.taken.kinds()))
    pending_.insert(group->second.unsettled.begin(), group->second.unsettled.end());
}

// ---- one definition

Task<void> Controller::settle_pending() {
  while ((!pending_.empty() || !published_) && !stopping()) {
    std::vector<Write> writes;
    while (!pending_.empty() && (writes.size() < kWritesAtOnce || !published_)) {
      const std::string name = *pending_.begin();
      pending_.erase(pending_.begin());
      settle(name, writes);
    }
    // Who reads "Established" may use the resource at once: it is served before the condition says so.
    publish();
    co_await write_all(std::move(writes));
  }
  publish();
}

void Controller::settle(const std::string& name, std::vector<Write>& writes) {
  const auto found = entries_.find(name);
  if (found == entries_.end()) return;
  Entry& entry = found->second;
  Object crd = decode(*entry.stored, json::storage_ptr());
  index(name, entry, crd);
  if (!meta_text(crd, "deletionTimestamp").empty()) {
    serve(entry, crd);
    begin_cleanup(name, entry, crd);
    return;
  }
  Verdict verdict = judge(crd, groups_[entry.group].taken);
  verdict.apply(crd);
  index(name, entry, crd);
  serve(entry, crd);
  if (!verdict.empty()) writes.push_back({name, std::move(verdict)});
}

// ---- writing

Task<void> Controller::write_all(std::vector<Write> writes) {
  for (std::size_t begin = 0; begin < writes.size() && !stopping(); begin += kWritesAtOnce) {
    const std::size_t end = std::min(begin + kWritesAtOnce, writes.size());
    Promise<bool> done;
    auto left = std::make_shared<std::atomic<std::size_t>>(end - begin);
    for (std::size_t i = begin; i < end; ++i) {
      spawn_detached(*current_executor(), write_one(writes[i]), [done, left] {
        if (--*left == 0) done.set(true);
      });
    }
    auto all = done.future();
    co_await all;
    for (std::size_t i = begin; i < end; ++i) finish(writes[i]);
  }
}

Task<void> Controller::write_one(Write& write_in) {
  try {
    std::function<void(Object&)> change = [&write_in](Object& crd) { write_in.verdict.apply(crd); };
    auto writing = write(write_in.name, std::string(), std::move(change));
    write_in.written = co_await std::move(writing);
  } catch (const std::exception& thrown) {
    write_in.written = internal_error(thrown.what());
  }
}

void Controller::finish(Write& write) {
  const auto found = entries_.find(write.name);
  if (found == entries_.end()) return;
  Entry& entry = found->second;
  if (write.written.ok() && (*write.written)->revision > entry.stored->revision) {
    entry.stored = std::move(*write.written);
    if (entry.installed) entry.installed->source->renew(entry.stored);
  }
  // As it is stored: of a write that failed, what it wanted has not come to be; it is looked at again when the change that was in the way
  // arrives.
  index(write.name, entry, decode(*entry.stored, json::make_shared_resource<json::monotonic_resource>()));
}

Task<Result<ObjectRef>> Controller::write(std::string name, std::string uid, std::function<void(Object&)> change) {
  RequestContext context;
  StatusChange info(std::move(change), std::move(uid));
  auto& updater = dynamic_cast<Updater&>(*parts_.status);
  WriteOptions options;
  auto updated = co_await updater.update(context, std::move(name), info, std::move(options), false);
  if (!updated.ok()) co_return std::move(updated.status());
  co_return std::move(updated->object);
}

// ---- serving

// Makes, keeps or drops the definition's storages.
void Controller::serve(Entry& entry, const Object& crd) {
  if (!condition_is_true(crd, "Established")) return retire(entry);
  if (entry.installed == nullptr || entry.installed->identity != identity_of(crd)) {
    auto installed = install_resource(*parts_.host, crd, entry.stored);
    if (!installed.ok()) {
      parts_.host->logger().error("a custom resource cannot be served name=" + quoted(meta_name(crd)) +
                                  " reason=" + quoted(installed.status().message()));
      return;
    }
    if (entry.installed != nullptr) retire(entry);
    entry.installed = std::move(*installed);
    change_.put.push_back(published(*entry.installed));
  } else {
    entry.installed->source->renew(entry.stored);
  }
  entry.installed->terminating->store(!meta_text(crd, "deletionTimestamp").empty(), std::memory_order_relaxed);
}

void Controller::retire(Entry& entry) {
  if (entry.installed == nullptr) return;
  change_.removed.push_back({entry.installed->resource->group, entry.installed->resource->plural});
  retired_.push_back(std::move(entry.installed));
  entry.installed = nullptr;
}

void Controller::publish() {
  const std::vector<InstalledRef> retired = std::exchange(retired_, {});
  GroupsChange change = std::exchange(change_, {});
  if (!published_ || !change.put.empty() || !change.removed.empty()) {
    Status status = parts_.groups->change(change);
    published_ = true;
    // One that cannot be published, because its group version is somebody else's, keeps nobody from being so.
    if (!status.ok()) publish_each(std::move(change));
  }
  // Only now: who watches again finds what is served instead.
  for (const InstalledRef& old : retired) old->watches->end();
}

void Controller::publish_each(GroupsChange change) {
  GroupsChange removals;
  removals.removed = std::move(change.removed);
  Status removed = parts_.groups->change(std::move(removals));
  if (!removed.ok()) parts_.host->logger().error("custom resources cannot be withdrawn reason=" + quoted(removed.message()));
  for (PublishedResource& resource : change.put) {
    const std::string name = GroupResource{resource.group, resource.resource}.to_string();
    GroupsChange one;
    one.put.push_back(std::move(resource));
    Status status = parts_.groups->change(std::move(one));
    if (!status.ok())
      parts_.host->logger().error("a custom resource cannot be published name=" + quoted(name) + " reason=" + quoted(status.message()));
  }
}

}  // namespace backplane::apiextensions
