#include "controller.hpp"

#include <algorithm>

#include "definition.hpp"

namespace backplane::apiextensions {
namespace {

constexpr std::chrono::milliseconds kRetry{1000};

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

// What one look at a definition wants its status to be; nothing: as it is.
struct Verdict {
  std::optional<Object> accepted_names;
  std::vector<Condition> conditions;
  bool established = false;
  bool empty() const { return !accepted_names && conditions.empty(); }

  void apply(Object& crd) const {
    if (accepted_names) ensure_object(crd, "status")["acceptedNames"] = *accepted_names;
    for (const Condition& condition : conditions) set_condition(crd, condition);
  }
};

Verdict judge(const Object& crd, const TakenNames& taken) {
  Verdict verdict;
  verdict.established = condition_is_true(crd, "Established");
  bool accepted = condition_is_true(crd, "NamesAccepted");
  if (!names_settled(crd) || find_condition(crd, "NamesAccepted") == nullptr) {
    NamingResult naming = accept_names(crd, taken);
    accepted = naming.names_accepted();
    if (!has_condition(crd, naming.accepted_condition)) verdict.conditions.push_back(naming.accepted_condition);
    if (naming.accepted != accepted_names_of(crd)) verdict.accepted_names = std::move(naming.accepted);
  }
  if (!verdict.established) {
    verdict.established = accepted;
    const Condition wanted = accepted ? Condition{"Established", "True", "InitialNamesAccepted", "the initial names have been accepted"}
                                      : Condition{"Established", "False", "NotAccepted", "not all names are accepted"};
    if (!has_condition(crd, wanted)) verdict.conditions.push_back(wanted);
  }
  if (auto approval = approval_condition(crd); approval && !has_condition(crd, *approval))
    verdict.conditions.push_back(std::move(*approval));
  return verdict;
}

}  // namespace

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
  publish();
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
    note(entry);
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
    if (event.type == WatchEvent::Type::kAdded || event.type == WatchEvent::Type::kModified) note(*event.object);
    if (event.type == WatchEvent::Type::kDeleted) forget(event.object->name);
  }
  co_await settle_pending();
  publish();
}

void Controller::note(const ObjectEntry& entry) {
  Entry& known = entries_[entry.name];
  if (known.revision >= entry.revision) return;  // our own write, which has been seen when it was made
  known.crd = decode(entry, json::storage_ptr());
  known.revision = entry.revision;
  pending_.insert(entry.name);
}

void Controller::forget(const std::string& name) {
  const auto found = entries_.find(name);
  if (found == entries_.end()) return;
  const std::string group(get_string(spec_of(found->second.crd), "group"));
  changed_ = changed_ || found->second.installed != nullptr;
  entries_.erase(found);
  pending_.erase(name);
  queue_group(group);  // its names are free again
}

void Controller::queue_group(std::string_view group) {
  for (const auto& [name, entry] : entries_) {
    if (get_string(spec_of(entry.crd), "group") == group && !names_settled(entry.crd)) pending_.insert(name);
  }
}

TakenNames Controller::taken_names(std::string_view group) const {
  TakenNames taken;
  for (const auto& [name, entry] : entries_) {
    if (get_string(spec_of(entry.crd), "group") == group) taken.add(entry.crd);
  }
  return taken;
}

// ---- one definition

Task<void> Controller::settle_pending() {
  while (!pending_.empty() && !stopping()) {
    const std::string name = *pending_.begin();
    pending_.erase(pending_.begin());
    co_await settle(name);
  }
}

Task<void> Controller::settle(std::string name) {
  auto found = entries_.find(name);
  if (found == entries_.end()) co_return;
  if (!meta_text(found->second.crd, "deletionTimestamp").empty()) {
    serve(found->second);
    begin_cleanup(name, found->second);
    co_return;
  }
  const std::string group(get_string(spec_of(found->second.crd), "group"));
  const Verdict verdict = judge(found->second.crd, taken_names(group));
  const Object before = found->second.crd;
  verdict.apply(found->second.crd);
  serve(found->second);
  if (verdict.empty()) co_return;
  // Who reads "Established" may use the resource at once: it is served before the condition says so.
  publish();
  std::function<void(Object&)> change = [&verdict](Object& crd) { verdict.apply(crd); };
  auto writing = write(name, std::string(), std::move(change));
  auto written = co_await std::move(writing);
  found = entries_.find(name);
  if (found == entries_.end()) co_return;
  if (!written.ok()) {
    // Looked at again when the change that was in the way arrives.
    found->second.crd = before;
    co_return;
  }
  if ((*written)->revision > found->second.revision) {
    found->second.crd = decode(**written, json::storage_ptr());
    found->second.revision = (*written)->revision;
  }
  queue_group(group);
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

// Makes, keeps or drops the definition's storages.
void Controller::serve(Entry& entry) {
  if (!condition_is_true(entry.crd, "Established")) {
    changed_ = changed_ || entry.installed != nullptr;
    entry.installed = nullptr;
    return;
  }
  if (entry.installed == nullptr || entry.installed->made_from != fingerprint(entry.crd)) {
    auto installed = install_resource(*parts_.host, entry.crd, entry.revision);
    if (!installed.ok()) {
      parts_.host->logger().error("a custom resource cannot be served name=" + quoted(meta_name(entry.crd)) +
                                  " reason=" + quoted(installed.status().message()));
      return;
    }
    entry.installed = std::move(*installed);
    changed_ = true;
  }
  entry.installed->terminating->store(!meta_text(entry.crd, "deletionTimestamp").empty(), std::memory_order_relaxed);
}

void Controller::publish() {
  if (!changed_) return;
  std::vector<InstalledRef> all;
  for (const auto& [name, entry] : entries_) {
    if (entry.installed != nullptr) all.push_back(entry.installed);
  }
  Status published = parts_.groups->publish(groups_of(all));
  if (published.ok())
    changed_ = false;
  else
    parts_.host->logger().error("custom resources cannot be published reason=" + quoted(published.message()));
}

}  // namespace backplane::apiextensions
