// The usage of a quota is recalculated when the quota changes, when an object that it counts is deleted or changes its usage, and every
// five minutes.
#include <algorithm>
#include <map>

#include "frame/objects.hpp"
#include "gc/monitor.hpp"
#include "quota/controllers.hpp"
#include "quota/pod_changes.hpp"
#include "quota/usage.hpp"

namespace backplane::controllers {
namespace {

constexpr int kQuotaWorkers = 5;
constexpr std::chrono::minutes kRecount{5};
constexpr std::chrono::milliseconds kReplenishPause{100};  // several deletions cause one recalculation

GroupVersionResource quotas() { return {"", "v1", "resourcequotas"}; }

bool is_pod(const ServedType& type) { return type.resource.group.empty() && type.resource.resource == "pods"; }

// Whether a change of an object that is not a pod may lower the usage; other counts change only with additions and deletions.
bool may_release(const ServedType& type) {
  if (!type.resource.group.empty() && type.resource.group != "resource.k8s.io") return false;
  return type.resource.resource == "services" || type.resource.resource == "persistentvolumeclaims" ||
         type.resource.resource == "resourceclaims";
}

// Whether the pod has ended or is being deleted.
bool is_over(const Object& pod) {
  const std::string_view phase = get_string_path(pod, "status.phase");
  return phase == "Succeeded" || phase == "Failed" || is_being_deleted(pod);
}

class QuotaController : public std::enable_shared_from_this<QuotaController> {
 public:
  explicit QuotaController(const Context& context)
      : context_(context), informer_(context.term->informer(quotas())), queue_(context.term->queue()), usage_(context) {}

  void start() {
    const auto self = shared_from_this();
    ResourceEventHandler handler;
    handler.on_add = [self](const ObjectRef& quota, bool) { self->note(*quota); };
    handler.on_update = [self](const ObjectRef& old, const ObjectRef& quota) {
      // A change of the usage by admission needs no recalculation.
      if (object_or_empty(tree_of(*old), "spec") != object_or_empty(tree_of(*quota), "spec")) self->note(*quota);
    };
    context_.term->handle(informer_, std::move(handler));
    Executor& executor = context_.host.executor();
    const std::weak_ptr<QuotaController> weak = self;
    const int number = context_.group_changes->add([weak, &executor] {
      executor.post([weak] {
        if (const auto controller = weak.lock()) controller->types_stale_ = true;
      });
    });
    context_.term->on_end([self, number] {
      self->context_.group_changes->remove(number);
      for (const auto& [_, monitor] : self->monitors_) monitor->stop();
    });
    context_.work(queue_, kQuotaWorkers, [self](std::string key) { return self->reconcile(std::move(key)); }, {informer_});
  }

 private:
  void note(const ObjectEntry& quota) { queue_->add(object_key(quota)); }

  Task<Status> reconcile(std::string key) {
    auto quota = cached(*informer_, key);
    if (!quota) co_return Status();
    auto discovering = refresh_types();
    Status discovered = co_await std::move(discovering);
    if (!discovered.ok()) co_return discovered;
    queue_->add_after(key, kRecount);
    const Object& spec = object_or_empty(*quota, "spec");
    const admission::ResourceList hard = admission::read_resources(spec, "hard");
    follow(hard);
    const Object& status = object_or_empty(*quota, "status");
    const admission::ResourceList before = admission::read_resources(status, "used");
    auto calculating = usage_.calculate(std::string(meta_namespace(*quota)), quota::scopes_of_quota(*quota), hard, &types_);
    auto calculated = co_await std::move(calculating);
    admission::ResourceList used = before;
    for (const auto& [name, amount] : calculated.used) used.insert_or_assign(name, amount);
    used = admission::mask(used, admission::names_of(hard));
    const bool dirty = !admission::same_amounts(hard, admission::read_resources(status, "hard")) || !has(status, "hard") ||
                       !has(status, "used") || !admission::same_amounts(used, before);
    if (!dirty) co_return calculated.error;
    (*quota)["status"] = Object{{"hard", object_of(hard)}, {"used", object_of(used)}};
    const std::string ns(meta_namespace(*quota));
    auto written = co_await context_.api.update(quotas(), ns, std::move(*quota), "status");
    if (!written.ok()) co_return unless_gone(std::move(written).status());
    co_return calculated.error;
  }

  static Object object_of(const admission::ResourceList& list) {
    Object out;
    for (const auto& [name, amount] : list) out[name] = amount;
    return out;
  }

  Task<Status> refresh_types() {
    if (!types_stale_) co_return Status();
    types_stale_ = false;
    auto discovering = discover_types(context_.api);
    auto found = co_await std::move(discovering);
    if (!found.ok()) {
      types_stale_ = true;
      co_return std::move(found).status();
    }
    types_ = std::move(*found);
    co_return Status();
  }

  // Watches the objects that a quota counts.
  void follow(const admission::ResourceList& hard) {
    const std::weak_ptr<QuotaController> weak = weak_from_this();
    for (const CountedResource& counted : usage_.counted(hard)) {
      const auto served = types_.collectable.find(counted.resource);
      if (served == types_.collectable.end() || monitors_.contains(counted.resource) || context_.term->ended()) continue;
      Monitor::Callbacks callbacks;
      callbacks.event = [weak](const ServedType& type, const WatchEvent& event, bool initial) {
        const auto self = weak.lock();
        if (self && self->may_change_usage(type, event) && !initial) self->replenish(type, *event.object);
      };
      callbacks.listing = [weak](const ServedType& type) {
        if (const auto self = weak.lock(); self && is_pod(type)) self->pods_.begin_list();
      };
      callbacks.listed = [weak](const ServedType& type) {
        if (const auto self = weak.lock(); self && is_pod(type)) self->pods_.end_list();
      };
      auto monitor = std::make_shared<Monitor>(context_, served->second, std::move(callbacks));
      monitors_.emplace(counted.resource, monitor);
      context_.host.spawn(context_.name + "/" + counted.resource.to_string(), monitor->run());
    }
  }

  // Returns true if the event may change the usage. Additions do not count, because admission has counted them.
  bool may_change_usage(const ServedType& type, const WatchEvent& event) {
    const bool deleted = event.type == EventType::kDeleted, added = event.type == EventType::kAdded;
    if (!is_pod(type)) return deleted || (!added && may_release(type));
    const std::string key = object_key(*event.object);
    if (deleted) {
      pods_.forget(key);
      return true;
    }
    const Object pod = tree_of(*event.object);
    const bool changed = pods_.note(key, pod);
    return !added && (changed || is_over(pod));
  }

  void replenish(const ServedType& type, const ObjectEntry& object) {
    const std::string ns(meta_namespace(tree_of(object)));
    auto found = informer_->indexer().by_index(kNamespaceIndex, ns);
    const GroupResource resource{type.resource.group, type.resource.resource};
    for (const ObjectRef& entry : found.ok() ? *found : std::vector<ObjectRef>()) {
      const auto counted = usage_.counted(admission::read_resources(object_or_empty(tree_of(*entry), "spec"), "hard"));
      const bool concerned =
          std::any_of(counted.begin(), counted.end(), [&](const CountedResource& each) { return each.resource == resource; });
      if (concerned) queue_->add_after(object_key(*entry), kReplenishPause);
    }
  }

  Context context_;
  const std::shared_ptr<SharedInformer> informer_;
  const std::shared_ptr<WorkQueue> queue_;
  const QuotaUsage usage_;
  ServedTypes types_;
  bool types_stale_ = true;
  PodChanges pods_;
  std::map<GroupResource, std::shared_ptr<Monitor>> monitors_;
};

}  // namespace

Status start_resource_quota(const Context& context) {
  std::make_shared<QuotaController>(context)->start();
  return {};
}

}  // namespace backplane::controllers
