// Upstream examines all pods every 20 seconds. Here a round runs after a change of pods or nodes that may require it, at most once in
// kRoundPause, so an idle server does nothing. No pods are cached here: a round reads the watch cache.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <tuple>

#include "frame/objects.hpp"
#include "gc/monitor.hpp"
#include "workloads/controllers.hpp"

namespace backplane::controllers {
namespace {

constexpr std::chrono::seconds kRoundPause{20}, kQuarantine{40};
constexpr std::string_view kRound = "round";
constexpr std::string_view kOutOfService = "node.kubernetes.io/out-of-service";

GroupVersionResource pods() { return {"", "v1", "pods"}; }
GroupVersionResource nodes() { return {"", "v1", "nodes"}; }

std::string_view phase_of(const Object& pod) { return get_string_path(pod, "status.phase"); }
std::string node_of(const Object& pod) { return std::string(get_string_path(pod, "spec.nodeName")); }

bool is_terminated(const Object& pod) {
  const std::string_view phase = phase_of(pod);
  return phase != "Pending" && phase != "Running" && phase != "Unknown";
}

bool is_out_of_service(const Object& node) {
  const Object* ready = find_condition(node, "Ready");
  if (ready != nullptr && get_string(*ready, "status") == "True") return false;
  return find_item(object_or_empty(node, "spec"), "taints", "key", kOutOfService) != nullptr;
}

// Evicted pods are deleted first, then the oldest ones.
auto age_order(const Object& pod) {
  const bool evicted = phase_of(pod) == "Failed" && get_string_path(pod, "status.reason") == "Evicted";
  return std::make_tuple(!evicted, std::string(meta_text(pod, "creationTimestamp")), std::string(meta_name(pod)));
}

Object deleted_by_gc(const Object& pod) {
  Object condition;
  condition["type"] = "DisruptionTarget";
  if (const auto generation = get_int_path(pod, "metadata.generation")) condition["observedGeneration"] = *generation;
  condition["status"] = "True";
  condition["lastTransitionTime"] = now_rfc3339();
  condition["reason"] = "DeletionByPodGC";
  condition["message"] = "PodGC: node no longer exists";
  return condition;
}

struct PodCollector {
  Host& host;
  ApiClient api;
  std::shared_ptr<SharedInformer> node_informer;
  std::shared_ptr<WorkQueue> queue;
  std::int64_t threshold = 0;
  std::map<std::string, std::chrono::steady_clock::time_point> quarantine{};  // the time since which a node is missing

  Task<Status> round(std::string) {
    std::vector<Object> all;
    auto reading = visit_stored(host, pods(), "", [&](const ObjectEntry& entry) {
      Object pod = tree_of(entry);
      if (concerns_round(pod)) all.push_back(std::move(pod));
    });
    Status read = co_await std::move(reading);
    if (!read.ok()) co_return read;
    std::vector<Object> doomed = surplus(all);
    for (const Object& pod : all) {
      if (is_being_deleted(pod) && (node_of(pod).empty() || is_on_lost_node(pod))) doomed.push_back(pod);
    }
    Status last;
    for (const Object& pod : doomed) {
      auto deleting = end_pod(pod, false);
      Status deleted = co_await std::move(deleting);
      if (!deleted.ok()) last = std::move(deleted);
    }
    auto finding = missing_nodes(all);
    const std::set<std::string> missing = co_await std::move(finding);
    for (const Object& pod : all) {
      if (!missing.contains(node_of(pod))) continue;
      auto deleting = end_pod(pod, true);
      Status deleted = co_await std::move(deleting);
      if (!deleted.ok()) last = std::move(deleted);
    }
    co_return last;
  }

  // True for pods that a round may delete: being deleted, ended, or on a node that does not exist.
  bool concerns_round(const Object& pod) const {
    const std::string node = node_of(pod);
    return is_being_deleted(pod) || is_terminated(pod) || (!node.empty() && node_informer->indexer().get(node) == nullptr);
  }

  bool is_on_lost_node(const Object& pod) const {
    const auto node = cached(*node_informer, node_of(pod));
    return node && is_out_of_service(*node);
  }

  std::vector<Object> surplus(const std::vector<Object>& all) const {
    std::vector<Object> terminated;
    if (threshold <= 0) return terminated;
    std::copy_if(all.begin(), all.end(), std::back_inserter(terminated), is_terminated);
    if (static_cast<std::int64_t>(terminated.size()) <= threshold) return {};
    std::sort(terminated.begin(), terminated.end(), [](const Object& a, const Object& b) { return age_order(a) < age_order(b); });
    terminated.resize(terminated.size() - static_cast<std::size_t>(threshold));
    return terminated;
  }

  // Returns the nodes that pods name, that have been missing for kQuarantine, and that the store does not contain.
  Task<std::set<std::string>> missing_nodes(const std::vector<Object>& all) {
    std::set<std::string> absent;
    for (const Object& pod : all) {
      const std::string node = node_of(pod);
      if (!node.empty() && node_informer->indexer().get(node) == nullptr) absent.insert(node);
    }
    std::erase_if(quarantine, [&](const auto& row) { return !absent.contains(row.first); });
    const auto now = std::chrono::steady_clock::now();
    std::set<std::string> out;
    for (const std::string& node : absent) {
      const auto since = quarantine.emplace(node, now).first->second;
      if (now - since < kQuarantine) {
        queue->add_after(std::string(kRound), kQuarantine - (now - since));
        continue;
      }
      auto found = co_await api.get(nodes(), "", node);
      if (!found.ok() && found.status().code() == 404) out.insert(node);
    }
    co_return out;
  }

  // A pod that has not ended becomes Failed first: no kubelet will report its end.
  Task<Status> end_pod(Object pod, bool orphaned) {
    const std::string ns(meta_namespace(pod)), name(meta_name(pod));
    if (phase_of(pod) != "Succeeded" && phase_of(pod) != "Failed") {
      Object status{{"phase", "Failed"}};
      if (const auto generation = get_int_path(pod, "metadata.generation")) status["observedGeneration"] = *generation;
      if (orphaned) status["conditions"] = Array{deleted_by_gc(pod)};
      Object patch{{"metadata", Object{{"uid", meta_text(pod, "uid")}}}, {"status", std::move(status)}};
      auto patched = co_await api.patch(pods(), ns, name, PatchType::kStrategicMerge, std::move(patch), "status");
      if (!patched.ok()) co_return unless_gone(std::move(patched).status());
    }
    DeleteOptions options;
    options.grace_period_seconds = 0;
    auto deleted = co_await api.remove(pods(), ns, name, std::move(options));
    co_return deleted.ok() ? Status() : unless_gone(std::move(deleted).status());
  }
};

}  // namespace

Status start_pod_collector(const Context& context) {
  const auto node_informer = context.term->informer(nodes());
  const auto queue = context.term->queue();
  const std::string threshold = context.host.flag("terminated-pod-gc-threshold").value_or("12500");
  const auto controller = std::make_shared<PodCollector>(
      PodCollector{context.host, context.api, node_informer, queue, std::strtoll(threshold.c_str(), nullptr, 10)});
  const auto later = [queue] { queue->add_after(std::string(kRound), kRoundPause); };
  Monitor::Callbacks pod_changes;
  pod_changes.event = [later, controller](const ServedType&, const WatchEvent& event, bool) {
    if (event.type != EventType::kDeleted && controller->concerns_round(tree_of(*event.object))) later();
  };
  pod_changes.listed = [](const ServedType&) {};
  const auto monitor = make_monitor(context, pods(), "Pod", std::move(pod_changes));
  ResourceEventHandler node_changes;
  node_changes.on_update = [later](const ObjectRef&, const ObjectRef& node) {
    if (is_out_of_service(tree_of(*node))) later();
  };
  node_changes.on_delete = [later](const ObjectRef&, bool) { later(); };
  context.term->handle(node_informer, std::move(node_changes));
  context.run([monitor] { return monitor->run(); }, {node_informer});
  context.work(queue, 1, [controller](std::string key) { return controller->round(std::move(key)); }, {node_informer});
  return {};
}

}  // namespace backplane::controllers
