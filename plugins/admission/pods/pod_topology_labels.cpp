#include "pods/pod_topology_labels.hpp"

#include <algorithm>
#include <array>

#include "backplane/core/json_access.hpp"
#include "objects/cached_objects.hpp"
#include "objects/request_match.hpp"

namespace backplane::admission::pods {
namespace {

constexpr std::array<std::string_view, 2> kTopologyLabels = {"topology.kubernetes.io/region", "topology.kubernetes.io/zone"};

bool is_topology_label(std::string_view key) {
  return std::find(kTopologyLabels.begin(), kTopologyLabels.end(), key) != kTopologyLabels.end();
}

// The node of a pod, or the target of a binding; empty: none.
std::string_view node_in(const AdmissionAttributes& attributes) {
  if (attributes.object == nullptr || !objects::is_of_resource(attributes, "", "pods")) return {};
  const Object& object = *attributes.object;
  if (attributes.subresource.empty()) return get_string_path(object, "spec.nodeName");
  if (attributes.subresource != "binding" || get_string_path(object, "target.kind") != "Node") return {};
  return get_string_path(object, "target.name");
}

class PodTopologyLabels final : public AdmissionPlugin {
 public:
  explicit PodTopologyLabels(std::optional<Lister> nodes) : nodes_(std::move(nodes)) {}

  std::string_view name() const noexcept override { return "PodTopologyLabels"; }
  bool handles(AdmissionOperation operation) const noexcept override { return operation == AdmissionOperation::kCreate; }
  bool validates() const noexcept override { return false; }

  std::optional<Status> admit_now(AdmissionAttributes& attributes) const override {
    if (!nodes_ || node_in(attributes).empty()) return Status();
    if (!nodes_->has_synced()) return std::nullopt;
    return copy_labels(attributes);
  }
  Task<Status> admit(AdmissionAttributes& attributes) const override {
    auto waiting = objects::wait_synced(*nodes_, attributes);
    Status ready = co_await std::move(waiting);
    co_return ready.ok() ? copy_labels(attributes) : ready;
  }

 private:
  // Copies the labels of the node to the object. The labels of a binding become labels of its pod.
  Status copy_labels(AdmissionAttributes& attributes) const {
    const ObjectRef entry = nodes_->find("", node_in(attributes));
    if (entry == nullptr) return {};
    for (const auto& [key, value] : entry->labels()) {
      if (is_topology_label(key)) ObjectMeta(*attributes.object).mutable_labels()[key] = value;
    }
    return {};
  }

  const std::optional<Lister> nodes_;  // empty: the gate is off
};

}  // namespace

Result<std::shared_ptr<AdmissionPlugin>> make_pod_topology_labels(Services& services, const AdmissionPluginConfig&) {
  std::optional<Lister> nodes;
  if (services.gate("PodTopologyLabelsAdmission")) nodes = services.lister({"", "v1", "nodes"});
  return std::shared_ptr<AdmissionPlugin>(std::make_shared<PodTopologyLabels>(std::move(nodes)));
}

}  // namespace backplane::admission::pods
