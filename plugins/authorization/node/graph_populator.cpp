#include "node/graph_populator.hpp"

#include <chrono>

#include "backplane/core/json_access.hpp"
#include "backplane/core/metrics.hpp"
#include "backplane/types/json_reading.hpp"
#include "backplane/types/json_scan.hpp"
#include "node/references.hpp"

namespace backplane::authorization {
namespace {

Metric& action_durations() {
  static Metric& metric = Metric::histogram("node_authorizer_graph_actions_duration_seconds",
                                            "[ALPHA] Histogram of duration of graph actions in node authorizer.", {"operation"},
                                            exponential_bounds(0.0001, 2, 12));
  return metric;
}

using ActionClock = std::chrono::steady_clock;

void note_action(const char* name, ActionClock::time_point began) {
  action_durations().observe({name}, std::chrono::duration<double>(ActionClock::now() - began).count());
}

template <VertexKind kKind>
void remove_owner(NodeGraph& graph, const ObjectEntry& entry) {
  graph.unbind({kKind, std::string(entry.ns()), std::string(entry.name())});
}

// The members that contribute to the graph.
constexpr std::string_view kNodeName[] = {"spec.nodeName"};
constexpr std::string_view kPodMembers[] = {"metadata.name", "metadata.namespace",           "metadata.annotations",
                                            "spec",          "status.resourceClaimStatuses", "status.extendedResourceClaimStatus"};
constexpr std::string_view kVolumeMembers[] = {"spec"};

std::string node_name(const ObjectEntry& entry) {
  json::monotonic_resource arena;
  return std::string(get_string_path(decode_members(entry, kNodeName, &arena), "spec.nodeName"));
}

// Adds an object that is bound to the node in its spec, and that refers to no other object.
template <VertexKind kKind>
bool put_bound(NodeGraph& graph, const ObjectEntry& entry) {
  const std::string node = node_name(entry);
  if (!node.empty()) return graph.bind({kKind, std::string(entry.ns()), std::string(entry.name())}, node, {});
  remove_owner<kKind>(graph, entry);
  return true;
}

bool put_pod(NodeGraph& graph, const ObjectEntry& entry) {
  const std::string node = node_name(entry);
  if (node.empty()) return false;
  json::monotonic_resource arena;
  const Object pod = decode_members(entry, kPodMembers, &arena);
  return graph.bind({VertexKind::kPod, std::string(entry.ns()), std::string(entry.name())}, node, pod_references(pod));
}

bool put_volume(NodeGraph& graph, const ObjectEntry& entry) {
  json::monotonic_resource arena;
  const auto references = volume_references(decode_members(entry, kVolumeMembers, &arena));
  if (references) {
    graph.bind_volume(std::string(entry.name()), references->claim, references->secrets);
  } else {
    graph.unbind_volume(std::string(entry.name()));
  }
  return true;
}

void remove_volume(NodeGraph& graph, const ObjectEntry& entry) { graph.unbind_volume(std::string(entry.name())); }

void apply(NodeGraph& graph, const GraphResource& resource, const ObjectEntry& entry) {
  const auto began = ActionClock::now();
  try {
    if (resource.put(graph, entry)) note_action(resource.put_name, began);
  } catch (const UnreadableObject&) {
    resource.remove(graph, entry);
  }
}

// Returns true if none of the contributing members has changed. Most updates of pods change only the state of their containers.
bool is_unchanged(const GraphResource& resource, const ObjectEntry& old, const ObjectEntry& now) {
  return json_members(old.json().view(), resource.members) == json_members(now.json().view(), resource.members);
}

}  // namespace

const std::vector<GraphResource>& graph_resources() {
  using Kind = VertexKind;
  static const std::vector<GraphResource> rows = {
      {{"", "v1", "pods"}, kPodMembers, put_pod, remove_owner<Kind::kPod>, "AddPod", "DeletePod"},
      {{"", "v1", "persistentvolumes"}, kVolumeMembers, put_volume, remove_volume, "AddPV", "DeletePV"},
      {{"storage.k8s.io", "v1", "volumeattachments"},
       kNodeName,
       put_bound<Kind::kVolumeAttachment>,
       remove_owner<Kind::kVolumeAttachment>,
       "AddVolumeAttachment",
       "DeleteVolumeAttachment"},
      {{"resource.k8s.io", "v1", "resourceslices"},
       kNodeName,
       put_bound<Kind::kResourceSlice>,
       remove_owner<Kind::kResourceSlice>,
       "AddResourceSlice",
       "DeleteResourceSlice"},
      {{"certificates.k8s.io", "v1beta1", "podcertificaterequests"},
       kNodeName,
       put_bound<Kind::kCertificateRequest>,
       remove_owner<Kind::kCertificateRequest>,
       "AddPodCertificateRequest",
       "DeletePodCertificateRequest"},
  };
  return rows;
}

ResourceEventHandler graph_handler(std::shared_ptr<NodeGraph> graph, const GraphResource& resource) {
  ResourceEventHandler handler;
  handler.on_add = [graph, &resource](const ObjectRef& object, bool) { apply(*graph, resource, *object); };
  handler.on_update = [graph, &resource](const ObjectRef& old, const ObjectRef& now) {
    if (!is_unchanged(resource, *old, *now)) apply(*graph, resource, *now);
  };
  handler.on_delete = [graph, &resource](const ObjectRef& last, bool) {
    const auto began = ActionClock::now();
    resource.remove(*graph, *last);
    note_action(resource.remove_name, began);
  };
  return handler;
}

}  // namespace backplane::authorization
