#include "controller.hpp"

#include <utility>

#include "backplane/core/exception_text.hpp"
#include "definition.hpp"

namespace backplane::apiextensions {
namespace {

// The number of definitions that are processed concurrently; the store commits their status writes together.
constexpr int kWorkers = 64;
constexpr std::chrono::milliseconds kFirstPause{100};
constexpr std::chrono::seconds kLongestPause{30};
// The interval at which every definition is processed again, changed or not.
constexpr std::chrono::minutes kResync{5};

}  // namespace

Controller::Controller(Parts parts)
    : parts_(std::move(parts)),
      status_(parts_.status),
      definitions_(SharedInformer::make("customresourcedefinitions", list_watch(parts_.definitions), parts_.host->logger())),
      queue_(std::make_shared<WorkQueue>(parts_.host->executor(), item_exponential_failure_rate_limiter(kFirstPause, kLongestPause))),
      finalizer_(std::make_shared<Finalizer>(*parts_.host, status_)),
      serving_(*parts_.host, parts_.groups, parts_.services) {}

void Controller::start_informer() {
  ResourceEventHandler handler = enqueue_keys(queue_);
  handler.on_update = [weak = weak_from_this(), enqueue = handler.on_update](const ObjectRef& old, const ObjectRef& now) {
    if (const auto self = weak.lock(); self && old == now) {
      self->check_again(std::string(now->name()));
      self->serving_.try_again(std::string(now->name()));
    }
    enqueue(old, now);
  };
  definitions_->add_event_handler(std::move(handler));
  parts_.host->spawn("crd-informer", definitions_->run());
}

void Controller::start() {
  parts_.host->spawn("crd-controller", begin());
  finalizer_->start();
}

void Controller::start_resync() { parts_.host->spawn("crd-resync", definitions_->run_resync(kResync)); }

void Controller::stop() {
  definitions_->stop();
  queue_->shut_down();
  finalizer_->stop();
}

Task<void> Controller::begin() {
  const auto self = shared_from_this();
  const bool synced = co_await definitions_->wait_synced();
  if (!synced) co_return;
  serve_all();
  parts_.synced->fire();
  spawn_workers(*parts_.host, "crd-controller", kWorkers, queue_, [self](std::string name) { return self->reconcile(std::move(name)); });
}

// ---- definitions that exist at startup

// All definitions are published in one step. Definitions with accepted names are processed before those that request names, so that no
// definition gets a name that is taken. This function writes no status: the queue contains every definition, so the workers write the
// missing parts.
void Controller::serve_all() {
  std::vector<ObjectRef> all = definitions_->indexer().list();
  for (const bool asking : {false, true}) {
    for (ObjectRef& stored : all) {
      if (stored == nullptr) continue;
      const std::string name(stored->name());
      std::string problem;
      try {
        Object crd = decode(*stored, json::storage_ptr());
        if (!asking && needs_names(crd)) continue;
        renew(name, std::exchange(stored, nullptr));
        look(name, entries_[name], std::move(crd));
      } catch (...) {
        problem = exception_text();
      }
      if (!problem.empty())
        parts_.host->logger().error("processing a definition failed name=" + quoted(name) + " reason=" + quoted(problem));
    }
  }
  serving_.publish();
}

// At startup, objects up to this revision may have been stored before the last change of their definition. The informer has no later writes
// of this server yet.
Revision Controller::newest() const { return definitions_->last_sync_revision(); }

// ---- one definition

Task<Status> Controller::reconcile(std::string name) {
  ObjectRef known = definitions_->indexer().get(name);
  if (known == nullptr) {
    forget(name);
    co_await serving_.publish_together();
    co_return Status();
  }
  if (!renew(name, std::move(known))) co_return Status();
  Entry& entry = entries_[name];
  Todo todo = look(name, entry, decode(*entry.stored, json::storage_ptr()));
  defer_gated_kinds(name, entry, todo.verdict);
  // The resource is served before the condition is set, because a client that reads "Established" may use it at once.
  co_await serving_.publish_together();
  if (todo.verdict.empty() || waits(name, todo)) co_return Status();
  auto writing = write(name, std::move(todo));
  co_return co_await std::move(writing);
}

bool Controller::waits(const std::string& name, const Todo& todo) {
  std::string value = todo.uid + "/" + std::to_string(todo.generation);
  if (todo.verdict.accepted_names) append_json(value, *todo.verdict.accepted_names);
  for (const Condition& each : todo.verdict.conditions) value += "\n" + each.type + each.status + each.reason + each.message;
  const auto pause = pauses_.claim(name, value);
  if (pause.count() > 0) queue_->add_after(name, pause);
  return pause.count() > 0;
}

void Controller::check_again(const std::string& name) {
  if (const auto found = entries_.find(name); found != entries_.end()) found->second.seen = false;
}

bool Controller::renew(const std::string& name, ObjectRef known) {
  Entry& entry = entries_[name];
  if (entry.stored == nullptr || entry.stored->revision < known->revision) {
    entry.stored = std::move(known);
    entry.seen = false;
  } else if (entry.stored->revision == known->revision) {
    // The event may report a write of this server, whose revision is already stored. The object of the event replaces the stored one,
    // because it shares the bytes of the informer's cache.
    entry.stored = std::move(known);
    serving_.renew(name, entry.stored);
  }
  return !entry.seen;
}

Controller::Todo Controller::look(const std::string& name, Entry& entry, Object crd) {
  Todo todo;
  todo.uid = meta_text(crd, "uid");
  if (std::exchange(entry.uid, todo.uid) != todo.uid) {
    entry.may_establish.reset();
    entry.structure_checked.reset();
  }
  todo.generation = get_int_path(crd, "metadata.generation").value_or(0);
  index(name, crd);
  if (!meta_text(crd, "deletionTimestamp").empty()) {
    // A server accepts objects before it stores the condition Established. If the names are accepted, there may be objects to delete.
    judge(crd, names_.taken(std::string(get_string(spec_of(crd), "group")))).apply(crd);
    serving_.serve(name, crd, entry.stored, newest());
    if (has_finalizer(crd, kCleanupFinalizer)) finalizer_->take(name, todo.uid, serving_.find(name));
    entry.seen = true;
    return todo;
  }
  todo.verdict = judge(crd, names_.taken(std::string(get_string(spec_of(crd), "group"))));
  if (entry.structure_checked != todo.generation) verify_structure(crd, todo.verdict);
  if (todo.verdict.empty()) entry.structure_checked = todo.generation;
  todo.verdict.apply(crd);
  index(name, crd);
  serving_.serve(name, crd, entry.stored, newest());
  entry.seen = todo.verdict.empty();
  return todo;
}

void Controller::defer_gated_kinds(const std::string& name, Entry& entry, Verdict& verdict) {
  Condition* establishing = verdict.establishing();
  if (establishing == nullptr) return;
  if (verdict.gives_names()) {
    // The event of this write adds the name to the queue again.
    *establishing = installing_condition();
    return;
  }
  if (parts_.establishing_delay.count() == 0) return;
  const auto now = std::chrono::steady_clock::now();
  if (!entry.may_establish) entry.may_establish = now + parts_.establishing_delay;
  if (now >= *entry.may_establish) return;
  std::erase_if(verdict.conditions, [](const Condition& condition) { return condition.type == "Established"; });
  queue_->add_after(name, *entry.may_establish - now);
}

Task<Status> Controller::write(std::string name, Todo todo) {
  const auto verdict = std::make_shared<const Verdict>(std::move(todo.verdict));
  std::function<void(Object&)> change = [verdict](Object& crd) { verdict->apply(crd); };
  auto writing = status_.write(name, todo.uid, std::move(change));
  auto written = co_await std::move(writing);
  const auto found = entries_.find(name);
  if (found == entries_.end()) co_return Status();
  if (written.ok()) {
    take_written(name, found->second, std::move(*written), todo.generation);
    co_return Status();
  }
  // The write failed, so the index gets the stored names again.
  index(name, decode(*found->second.stored, json::make_shared_resource<json::monotonic_resource>()));
  co_return is_gone(written.status()) ? Status() : std::move(written.status());
}

void Controller::take_written(const std::string& name, Entry& entry, ObjectRef written, std::int64_t generation) {
  if (written->revision <= entry.stored->revision) return;
  entry.stored = std::move(written);
  const Object crd = decode(*entry.stored, json::make_shared_resource<json::monotonic_resource>());
  index(name, crd);
  // Another client may have changed the definition between the read and the write; that change adds the name to the queue again.
  const bool same = get_int_path(crd, "metadata.generation").value_or(0) == generation && meta_text(crd, "deletionTimestamp").empty();
  entry.seen = same && judge(crd, names_.taken(std::string(get_string(spec_of(crd), "group")))).empty();
  if (same) serving_.renew(name, entry.stored);
  entry.structure_checked = generation;
}

void Controller::forget(const std::string& name) {
  if (entries_.erase(name) == 0) return;
  finalizer_->drop(name);
  serving_.retire(name);
  requeue(names_.remove(name));
}

// ---- the names of a group

void Controller::index(const std::string& name, const Object& crd) { requeue(names_.put(name, crd)); }

void Controller::requeue(const NameIndex::Freed& names) {
  for (const std::string& name : names) {
    check_again(name);
    queue_->add(name);
  }
}

}  // namespace backplane::apiextensions
