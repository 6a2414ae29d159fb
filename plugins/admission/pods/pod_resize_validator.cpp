#include "pods/pod_resize_validator.hpp"

#include "backplane/core/json_access.hpp"
#include "backplane/core/text.hpp"
#include "backplane/types/names.hpp"
#include "common/pod_resources.hpp"
#include "objects/cached_objects.hpp"
#include "pods/quantities.hpp"
#include "pods/scheduled_pod_update.hpp"

namespace backplane::admission::pods {
namespace {

Status resize_refused(const AdmissionAttributes& attributes, const std::string& why, std::string cause) {
  Status status = admission_forbidden(attributes, why);
  StatusDetails details = status.details() != nullptr ? *status.details() : StatusDetails();
  details.causes.push_back({std::move(cause), {}, {}});
  status.with_details(std::move(details));
  return status;
}

std::string_view quantity_in(const ResourceList& amounts, std::string_view name) {
  const auto found = amounts.find(name);
  return found == amounts.end() ? std::string_view("0") : found->second;
}

// "name, requested: 1, allocatable: 2" for each resource of which the node has too little.
std::vector<std::string> shortages(const Object& pod, const Object& node) {
  const ResourceList requests = pod_requests(pod, nullptr, true),
                     allocatable = read_resources(object_or_empty(node, "status"), "allocatable");
  std::vector<std::string> texts;
  const auto compare = [&](const std::string& name, std::int64_t (*number)(std::string_view)) {
    const std::string_view wanted = quantity_in(requests, name), there = quantity_in(allocatable, name);
    if (compare_quantities(wanted, there) <= 0) return;
    texts.push_back(name + ", requested: " + std::to_string(number(wanted)) + ", allocatable: " + std::to_string(number(there)));
  };
  compare("cpu", milli_value);
  compare("memory", whole_value);
  return texts;
}

class PodResizeValidator final : public AdmissionPlugin {
 public:
  explicit PodResizeValidator(Lister nodes) : nodes_(std::move(nodes)) {}

  std::string_view name() const noexcept override { return "PodResizeValidator"; }
  bool handles(AdmissionOperation operation) const noexcept override { return operation == AdmissionOperation::kUpdate; }
  bool mutates() const noexcept override { return false; }

  std::optional<Status> validate_now(const AdmissionAttributes& attributes) const override {
    if (!is_scheduled_pod_change(attributes, /*only_resize=*/true)) return Status();
    if (!nodes_.has_synced()) return std::nullopt;
    return check(attributes);
  }
  Task<Status> validate(const AdmissionAttributes& attributes) const override {
    auto waiting = objects::wait_synced(nodes_, attributes);
    Status ready = co_await std::move(waiting);
    co_return ready.ok() ? check(attributes) : ready;
  }

 private:
  Status check(const AdmissionAttributes& attributes) const {
    auto node = node_of_pod(attributes, nodes_);
    if (!node.ok()) return std::move(node).status();
    const Value* system = find_path(*node, {"metadata", "labels", "kubernetes.io/os"});
    if (system != nullptr && text_of(*system) != "linux") {
      return resize_refused(attributes,
                            "pod resize is only supported on linux nodes, node " + backplane::quoted(meta_name(*node)) + " is " +
                                backplane::quoted(text_of(*system)),
                            "UnsupportedPlatform");
    }
    const auto texts = shortages(*attributes.object, *node);
    if (texts.empty()) return {};
    return resize_refused(attributes, "node didn't have enough allocatable resources: " + joined(texts, "; "), "NodeCapacity");
  }

  const Lister nodes_;
};

}  // namespace

Result<std::shared_ptr<AdmissionPlugin>> make_pod_resize_validator(Services& services, const AdmissionPluginConfig&) {
  // The gate InPlacePodVerticalScaling is locked.
  return std::shared_ptr<AdmissionPlugin>(std::make_shared<PodResizeValidator>(services.lister({"", "v1", "nodes"})));
}

}  // namespace backplane::admission::pods
