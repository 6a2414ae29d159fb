#include "node/graph_populator.hpp"

#include <chrono>

#include "backplane/core/json_access.hpp"
#include "backplane/core/metrics.hpp"
#include "backplane/types/json_reading.hpp"
#include "node/references.hpp"

namespace backplane::authorization {
namespace {

Metric& action_durations() {
  static Metric& metric = Metric::histogram("node_authorizer_graph_actions_duration_seconds",
                                            "[ALPHA] Histogram of duration of graph actions in node authorizer.", {"operation"},
                                            exponential_bounds(0.0001, 2, 12));
  return metric;
}

class MeasuredAction {
 public:
  explicit MeasuredAction(const char* name) : name_(name) {}
  ~MeasuredAction() {
    action_durations().observe({name_}, std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count());
  }
  MeasuredAction(const MeasuredAction&) = delete;
  MeasuredAction& operator=(const MeasuredAction&) = delete;

 private:
  const char* const name_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

template <VertexKind kKind>
void remove_owner(NodeGraph& graph, const ObjectEntry& entry) {
  graph.unbind({kKind, entry.ns, entry.name});
}

// An object that is bound to the node in its spec, and refers to nothing else.
template <VertexKind kKind>
void put_bound(NodeGraph& graph, const ObjectEntry& entry, const Object& object) {
  const std::string node(get_string_path(object, "spec.nodeName"));
  if (node.empty()) return remove_owner<kKind>(graph, entry);
  graph.bind({kKind, entry.ns, entry.name}, node, {});
}

void put_pod(NodeGraph& graph, const ObjectEntry& entry, const Object& object) {
  const std::string node(get_string_path(object, "spec.nodeName"));
  if (!node.empty()) graph.bind({VertexKind::kPod, entry.ns, entry.name}, node, pod_references(object));
}

void put_volume(NodeGraph& graph, const ObjectEntry& entry, const Object& object) {
  const auto references = volume_references(object);
  if (references) {
    graph.bind_volume(entry.name, references->claim, references->secrets);
  } else {
    graph.unbind_volume(entry.name);
  }
}

void remove_volume(NodeGraph& graph, const ObjectEntry& entry) { graph.unbind_volume(entry.name); }

void apply(NodeGraph& graph, const GraphResource& resource, const ObjectEntry& entry) {
  const MeasuredAction action(resource.put_name);
  try {
    json::monotonic_resource arena;
    resource.put(graph, entry, decode(entry, &arena));
  } catch (const UnreadableObject&) {
    resource.remove(graph, entry);
  }
}

}  // namespace

const std::vector<GraphResource>& graph_resources() {
  using Kind = VertexKind;
  static const std::vector<GraphResource> rows = {
      {{"", "v1", "pods"}, put_pod, remove_owner<Kind::kPod>, "AddPod", "DeletePod"},
      {{"", "v1", "persistentvolumes"}, put_volume, remove_volume, "AddPV", "DeletePV"},
      {{"storage.k8s.io", "v1", "volumeattachments"},
       put_bound<Kind::kVolumeAttachment>,
       remove_owner<Kind::kVolumeAttachment>,
       "AddVolumeAttachment",
       "DeleteVolumeAttachment"},
      {{"resource.k8s.io", "v1", "resourceslices"},
       put_bound<Kind::kResourceSlice>,
       remove_owner<Kind::kResourceSlice>,
       "AddResourceSlice",
       "DeleteResourceSlice"},
      {{"certificates.k8s.io", "v1beta1", "podcertificaterequests"},
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
  handler.on_update = [graph, &resource](const ObjectRef&, const ObjectRef& now) { apply(*graph, resource, *now); };
  handler.on_delete = [graph, &resource](const ObjectRef& last, bool) {
    const MeasuredAction action(resource.remove_name);
    resource.remove(*graph, *last);
  };
  return handler;
}

}  // namespace backplane::authorization
