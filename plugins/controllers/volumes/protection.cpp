#include <algorithm>
#include <map>
#include <set>

#include "frame/objects.hpp"
#include "gc/monitor.hpp"
#include "volumes/controllers.hpp"

namespace backplane::controllers {
namespace {

constexpr std::string_view kClaimFinalizer = "kubernetes.io/pvc-protection";
constexpr std::string_view kVolumeFinalizer = "kubernetes.io/pv-protection";

GroupVersionResource claims() { return {"", "v1", "persistentvolumeclaims"}; }
GroupVersionResource volumes() { return {"", "v1", "persistentvolumes"}; }
GroupVersionResource claim_pods() { return {"", "v1", "pods"}; }

// Returns true if the finalizer has to be added, or may have to be removed.
bool needs_finalizer_change(const Object& object, std::string_view finalizer) {
  return is_being_deleted(object) == has_finalizer(object, finalizer);
}

Task<Status> write(ApiClient api, GroupVersionResource resource, Object object) {
  const std::string ns(meta_namespace(object));
  auto written = co_await api.update(std::move(resource), ns, std::move(object));
  co_return written.ok() ? Status() : std::move(written).status();
}

// "ns/claim" of each volume of the pod.
std::vector<std::string> claims_of(const Object& pod) {
  std::vector<std::string> out;
  const std::string ns(meta_namespace(pod));
  each(object_or_empty(pod, "spec"), "volumes", [&](const Object& volume, std::size_t) {
    const Object* claim = get_object(volume, "persistentVolumeClaim");
    if (claim != nullptr) out.push_back(object_key(ns, get_string(*claim, "claimName")));
    if (claim == nullptr && has(volume, "ephemeral")) {
      out.push_back(object_key(ns, std::string(meta_name(pod)) + "-" + std::string(get_string(volume, "name"))));
    }
  });
  return out;
}

bool is_owned_by(const Object& claim, const Object& pod) {
  const Object* owner = find_item(object_or_empty(claim, "metadata"), "ownerReferences", "uid", meta_text(pod, "uid"));
  return owner != nullptr && get_bool(*owner, "controller").value_or(false);
}

// Returns true for a pod that its kubelet has cleaned up, or that was deleted without waiting for the kubelet.
bool is_shut_down(const Object& pod) {
  return is_being_deleted(pod) && get_int_path(pod, "metadata.deletionGracePeriodSeconds") == std::optional<std::int64_t>(0);
}

bool uses(const Object& pod, const Object& claim) {
  if (get_string_path(pod, "spec.nodeName").empty() || meta_namespace(pod) != meta_namespace(claim)) return false;
  bool out = false;
  each(object_or_empty(pod, "spec"), "volumes", [&](const Object& volume, std::size_t) {
    const Object* source = get_object(volume, "persistentVolumeClaim");
    if (source != nullptr) out |= get_string(*source, "claimName") == meta_name(claim);
    if (source != nullptr || !has(volume, "ephemeral") || is_shut_down(pod)) return;
    const std::string name = std::string(meta_name(pod)) + "-" + std::string(get_string(volume, "name"));
    out |= name == meta_name(claim) && is_owned_by(claim, pod);
  });
  return out;
}

// Receives the events of pods, and adds claims that a pod may have released to a queue. Records the claims of each pod, so that the
// deletion of a pod between two watches is detected, too.
class ClaimPods {
 public:
  explicit ClaimPods(std::shared_ptr<WorkQueue> queue) : queue_(std::move(queue)) {}

  void put(const Object& pod, bool initial) {
    std::vector<std::string> claims = claims_of(pod);
    const std::string key = object_key(meta_namespace(pod), meta_name(pod));
    if (claims.empty()) return;  // the volumes of a pod do not change
    const std::string_view phase = get_string_path(pod, "status.phase");
    if (phase == "Succeeded" || phase == "Failed" || get_string_path(pod, "spec.nodeName").empty()) release(claims);
    if (initial) listed_.insert(key);
    pods_[key] = std::move(claims);
  }
  void remove(const Object& pod) {
    release(claims_of(pod));
    pods_.erase(object_key(meta_namespace(pod), meta_name(pod)));
  }
  // The initial events are complete: pods that they lack were deleted.
  void listed() {
    const std::set<std::string> present = std::exchange(listed_, {});
    std::erase_if(pods_, [&](const auto& row) {
      if (present.contains(row.first)) return false;
      release(row.second);
      return true;
    });
  }

 private:
  void release(const std::vector<std::string>& claims) {
    for (const std::string& claim : claims) queue_->add(claim);
  }

  const std::shared_ptr<WorkQueue> queue_;
  std::map<std::string, std::vector<std::string>> pods_;  // the claims of each pod, by the pod's key
  std::set<std::string> listed_;
};

struct ClaimProtection {
  Host& host;
  ApiClient api;
  std::shared_ptr<SharedInformer> claim_informer;

  Task<Status> reconcile(std::string key) {
    auto claim = cached(*claim_informer, key);
    if (!claim || !needs_finalizer_change(*claim, kClaimFinalizer)) co_return Status();
    if (!is_being_deleted(*claim)) {
      add_finalizer(*claim, kClaimFinalizer);
      auto adding = write(api, claims(), std::move(*claim));
      co_return unless_gone(co_await std::move(adding));
    }
    auto looking = is_used(*claim);
    auto used = co_await std::move(looking);
    if (!used.ok() || *used) co_return used.ok() ? Status() : std::move(used).status();
    remove_finalizer(*claim, kClaimFinalizer);
    auto removing = write(api, claims(), std::move(*claim));
    co_return unless_gone(co_await std::move(removing));
  }

  // The pods of the watch cache may be stale, so the newest ones are read before a claim is released.
  Task<Result<bool>> is_used(const Object& claim) {
    const std::string ns(meta_namespace(claim));
    bool used = false;
    auto reading = visit_stored(host, claim_pods(), ns, [&](const ObjectEntry& pod) { used = used || uses(tree_of(pod), claim); });
    Status read = co_await std::move(reading);
    if (!read.ok() || used) co_return read.ok() ? Result<bool>(true) : Result<bool>(std::move(read));
    auto newest = co_await api.list(claim_pods(), ns);
    if (!newest.ok()) co_return std::move(newest).status();
    each(*newest, "items", [&](const Object& pod, std::size_t) { used |= uses(pod, claim); });
    co_return used;
  }
};

struct VolumeProtection {
  ApiClient api;
  std::shared_ptr<SharedInformer> informer;

  Task<Status> reconcile(std::string name) {
    auto volume = cached(*informer, name);
    if (!volume || !needs_finalizer_change(*volume, kVolumeFinalizer)) co_return Status();
    if (!is_being_deleted(*volume)) {
      add_finalizer(*volume, kVolumeFinalizer);
    } else if (get_string_path(*volume, "status.phase") == "Bound") {
      co_return Status();
    } else {
      remove_finalizer(*volume, kVolumeFinalizer);
    }
    auto writing = write(api, volumes(), std::move(*volume));
    co_return unless_gone(co_await std::move(writing));
  }
};

}  // namespace

Status start_claim_protection(const Context& context) {
  const auto claim_informer = context.term->informer(claims());
  const auto queue = context.term->queue();
  context.term->handle(claim_informer,
                       enqueue_wanted(queue, [](const Object& claim) { return needs_finalizer_change(claim, kClaimFinalizer); }));
  const auto pods = std::make_shared<ClaimPods>(queue);
  Monitor::Callbacks changes;
  changes.event = [pods](const ServedType&, const WatchEvent& event, bool initial) {
    const Object pod = tree_of(*event.object);
    event.type == EventType::kDeleted ? pods->remove(pod) : pods->put(pod, initial);
  };
  changes.listed = [pods](const ServedType&) { pods->listed(); };
  const auto monitor = make_monitor(context, claim_pods(), "Pod", std::move(changes));
  context.run([monitor] { return monitor->run(); }, {claim_informer});
  const auto controller = std::make_shared<ClaimProtection>(ClaimProtection{context.host, context.api, claim_informer});
  context.work(queue, 1, [controller](std::string key) { return controller->reconcile(std::move(key)); }, {claim_informer});
  return {};
}

Status start_volume_protection(const Context& context) {
  const auto informer = context.term->informer(volumes());
  const auto queue = context.term->queue();
  context.term->handle(informer,
                       enqueue_wanted(queue, [](const Object& volume) { return needs_finalizer_change(volume, kVolumeFinalizer); }));
  const auto controller = std::make_shared<VolumeProtection>(VolumeProtection{context.api, informer});
  context.work(queue, 1, [controller](std::string name) { return controller->reconcile(std::move(name)); }, {informer});
  return {};
}

}  // namespace backplane::controllers
