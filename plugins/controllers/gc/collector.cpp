#include "gc/collector.hpp"

#include <algorithm>

#include "gc/controllers.hpp"

namespace backplane::controllers::gc {
namespace {

constexpr std::chrono::milliseconds kTypesPause{500};   // several changes of types cause one discovery
constexpr std::chrono::milliseconds kOrphanPause{100};  // events of other resources may not have arrived yet
constexpr std::chrono::milliseconds kFirstListsPause{200};
constexpr std::chrono::milliseconds kFirstRetry{5};
constexpr std::chrono::seconds kLongestRetry{1000};
constexpr std::size_t kMostAbsent = 10'000;
constexpr const char* kComponent = "garbage-collector-controller";

bool is_ignored(const GroupResource& resource) {
  return resource.resource == "events" && (resource.group.empty() || resource.group == "events.k8s.io");
}

bool is_type_of(std::string_view type, const ServedType& served) {
  const std::size_t space = type.find(' ');
  if (space == std::string_view::npos || type.substr(space + 1) != served.kind) return false;
  return GroupVersion::parse(type.substr(0, space)).group == served.resource.group;
}

bool same_versions(const Collectable& a, const Collectable& b) {
  return std::equal(a.versions.begin(), a.versions.end(), b.versions.begin(), b.versions.end(),
                    [](const ServedType& x, const ServedType& y) { return x.resource == y.resource; });
}

std::string type_of(const ServedType& served) { return type_text(served.resource.group_version().to_string(), served.kind); }

}  // namespace

Collector::Collector(const Context& context) : context_(context), events_(context, kComponent) {}

void Collector::start() {
  const std::weak_ptr<Collector> weak = weak_from_this();
  Executor& executor = context_.host.executor();
  const auto changed = [weak, &executor] {
    executor.post([weak] {
      if (const auto self = weak.lock()) self->types_changed();
    });
  };
  const int number = context_.group_changes->add(changed);
  context_.term->on_end([self = shared_from_this(), number] {
    self->context_.group_changes->remove(number);
    for (const auto& [_, monitor] : self->monitors_) monitor->stop();
    self->types_changed();
  });
  const GroupVersionResource services{"apiregistration.k8s.io", "v1", "apiservices"};
  if (context_.host.resource_enabled(services)) {
    ResourceEventHandler handler;
    handler.on_add = [changed](const ObjectRef&, bool) { changed(); };
    handler.on_update = [changed](const ObjectRef&, const ObjectRef&) { changed(); };
    handler.on_delete = [changed](const ObjectRef&, bool) { changed(); };
    context_.term->handle(context_.term->informer(services), std::move(handler));
  }
  context_.host.spawn(context_.name + "/types", follow_types());
}

void Collector::types_changed() {
  types_dirty_ = true;
  if (type_change_) std::exchange(type_change_, nullptr)->set(true);
}

Task<void> Collector::follow_types() {
  const auto self = shared_from_this();
  while (!context_.term->ended()) {
    types_dirty_ = false;
    auto discovering = discover_types(context_.api);
    auto found = co_await std::move(discovering);
    if (context_.term->ended()) co_return;
    if (found.ok()) {
      apply_types(std::move(*found));
    } else {
      context_.host.logger().debug("discovery failed controller=" + context_.name + " error=" + quoted(found.status().message()));
      types_dirty_ = true;
    }
    const bool slept = co_await context_.term->sleep(kTypesPause);
    if (!slept) co_return;
    if (types_dirty_) continue;
    type_change_ = std::make_shared<Promise<bool>>();
    const Promise<bool> change = *type_change_;
    co_await change.future();
  }
}

void Collector::apply_types(ServedTypes types) {
  types_ = std::move(types);
  for (const auto& [resource, collectable] : types_.collectable) {
    if (!is_ignored(resource)) follow(resource, collectable);
  }
  for (auto each = monitors_.begin(); each != monitors_.end();) {
    const bool gone = !types_.collectable.contains(each->first) && !types_.stale_groups.contains(each->first.group);
    if (gone) each->second->stop();
    each = gone ? monitors_.erase(each) : std::next(each);
  }
  for (const std::string& key : std::exchange(parked_, {})) schedule(Uid::from_hex(std::string_view(key).substr(1)), key.front());
}

void Collector::follow(const GroupResource& resource, const Collectable& collectable) {
  std::shared_ptr<Monitor>& monitor = monitors_[resource];
  if (monitor && same_versions(monitor->resource(), collectable)) return;
  if (monitor) monitor->stop();
  const std::weak_ptr<Collector> weak = weak_from_this();
  Monitor::Callbacks callbacks;
  callbacks.event = [weak](const ServedType& type, const WatchEvent& event, bool initial) {
    if (const auto self = weak.lock()) self->take_event(type, event, initial);
  };
  callbacks.listing = [weak](const ServedType& type) {
    if (const auto self = weak.lock()) self->begin_list(type);
  };
  callbacks.listed = [weak](const ServedType& type) {
    if (const auto self = weak.lock()) self->take_list(type);
  };
  monitor = std::make_shared<Monitor>(context_, collectable, std::move(callbacks));
  context_.host.spawn(context_.name + "/" + resource.to_string(), monitor->run());
}

void Collector::take_event(const ServedType& type, const WatchEvent& event, bool initial) {
  const SharedBytes json = event.object->json();
  const std::optional<Facts> facts = read_facts(json.view());
  if (!facts || facts->uid.empty()) return;
  const Uid uid = Uid::of(facts->uid);
  if (event.type == EventType::kDeleted) {
    const auto item = graph_.find(uid);
    if (item && item->has_dependents) {
      const std::string api_version = type.resource.group_version().to_string();
      note_absent(absent_key(facts->ns, OwnerRef{api_version, type.kind, facts->name, facts->uid}));
    }
    return schedule(graph_.remove(uid));
  }
  schedule(graph_.put(type_of(type), *facts));
  if (initial) graph_.note_listed(uid);
}

void Collector::begin_list(const ServedType& type) {
  graph_.begin_list([&](std::string_view text) { return is_type_of(text, type); });
}

void Collector::take_list(const ServedType& type) {
  const auto gone = graph_.end_list([&](std::string_view text) { return is_type_of(text, type); });
  for (const Uid& uid : gone) schedule(graph_.remove(uid));
}

void Collector::schedule(const Graph::Work& work) {
  for (const Uid& uid : work.deletions) schedule(uid, 'd');
  for (const Uid& uid : work.orphans) schedule(uid, 'o');
}

// An object of a type that is not served has no queue: it is examined when the types change.
void Collector::schedule(const Uid& uid, char task) {
  const auto item = graph_.find(uid);
  if (!item || context_.term->ended()) return;
  const std::string key = task + uid.hex();
  if (types_.find(item->type) == nullptr) {
    parked_.insert(key);
  } else if (task == 'o') {
    lane(item->type)->add_after(key, kOrphanPause);
  } else {
    lane(item->type)->add(key);
  }
}

const std::shared_ptr<WorkQueue>& Collector::lane(const std::string& type) {
  std::shared_ptr<WorkQueue>& queue = lanes_[type];
  if (queue == nullptr) {
    queue = context_.term->queue(item_exponential_failure_rate_limiter(kFirstRetry, kLongestRetry));
    const auto work = [self = shared_from_this()](std::string key) { return self->examine(std::move(key)); };
    spawn_workers(context_.host, context_.name + "/" + type, kWorkersPerType, queue, work);
  }
  return queue;
}

bool Collector::first_lists_done() const {
  if (Clock::now() - started_ > kFirstListsLimit) return true;
  return std::all_of(monitors_.begin(), monitors_.end(), [](const auto& row) { return row.second->first_list_done(); });
}

std::string Collector::absent_key(std::string_view ns, const OwnerRef& owner) {
  std::string out(ns);
  for (const std::string_view part :
       {std::string_view(owner.api_version), std::string_view(owner.kind), std::string_view(owner.name), std::string_view(owner.uid)}) {
    out.append("\n").append(part);
  }
  return out;
}

void Collector::note_absent(std::string key) {
  if (absent_.size() >= kMostAbsent) absent_.clear();
  absent_.insert(std::move(key));
}

Task<Status> Collector::examine(std::string key) {
  const auto item = graph_.find(Uid::from_hex(std::string_view(key).substr(1)));
  if (!item || context_.term->ended()) co_return Status();
  const ServedType* type = types_.find(item->type);
  if (type == nullptr) {
    parked_.insert(key);
    co_return Status();
  }
  // Waits until all dependants of the owner are known.
  if ((item->orphan || item->foreground) && !first_lists_done()) {
    lane(item->type)->add_after(key, kFirstListsPause);
    co_return Status();
  }
  if (key.front() == 'o') {
    auto releasing = release_dependents(*item, *type);
    co_return co_await std::move(releasing);
  }
  auto collecting = collect(*item);
  co_return co_await std::move(collecting);
}

}  // namespace backplane::controllers::gc

namespace backplane::controllers {

Status start_garbage_collector(const Context& context) {
  std::make_shared<gc::Collector>(context)->start();
  return {};
}

}  // namespace backplane::controllers
