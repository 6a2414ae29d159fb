#include "pods/declared_features.hpp"

#include <algorithm>

#include "backplane/core/json_access.hpp"
#include "backplane/core/text.hpp"
#include "backplane/types/deep_equal.hpp"
#include "objects/cached_objects.hpp"
#include "pods/scheduled_pod_update.hpp"

namespace backplane::admission::pods {
namespace {

bool resizes_pod(const Object& spec, const Object& before) { return !alike(find(before, "resources"), find(spec, "resources")); }

bool resizes_init_container(const Object& spec, const Object& before) {
  const Array* now = get_array(spec, "initContainers");
  bool resized = false;
  each(before, "initContainers", [&](const Object& old, std::size_t i) {
    if (get_string(old, "restartPolicy") == "Always" || now == nullptr || i >= now->size()) return;
    const Object* container = (*now)[i].if_object();
    resized = resized || (container != nullptr && !alike(find(old, "resources"), find(*container, "resources")));
  });
  return resized;
}

// The features that an update may need, by name. (Upstream's other features concern scheduling.)
struct Feature {
  std::string_view name;
  bool (*is_needed)(const Object& spec, const Object& before);
};
constexpr Feature kFeatures[] = {
    {"InPlacePodLevelResourcesVerticalScaling", resizes_pod},
    {"InPlacePodVerticalScalingInitContainers", resizes_init_container},
};

class DeclaredFeatures final : public AdmissionPlugin {
 public:
  explicit DeclaredFeatures(std::optional<Lister> nodes) : nodes_(std::move(nodes)) {}

  std::string_view name() const noexcept override { return "NodeDeclaredFeatureValidator"; }
  bool handles(AdmissionOperation operation) const noexcept override { return operation == AdmissionOperation::kUpdate; }
  bool mutates() const noexcept override { return false; }

  std::optional<Status> validate_now(const AdmissionAttributes& attributes) const override {
    if (!nodes_ || !is_scheduled_pod_change(attributes, /*only_resize=*/false)) return Status();
    if (needed(attributes).empty()) return Status();
    if (!nodes_->has_synced()) return std::nullopt;
    return check(attributes);
  }
  Task<Status> validate(const AdmissionAttributes& attributes) const override {
    auto waiting = objects::wait_synced(*nodes_, attributes);
    Status ready = co_await std::move(waiting);
    co_return ready.ok() ? check(attributes) : ready;
  }

 private:
  static std::vector<std::string> needed(const AdmissionAttributes& attributes) {
    const Object &spec = object_or_empty(*attributes.object, "spec"), &before = object_or_empty(*attributes.old_object, "spec");
    std::vector<std::string> names;
    for (const Feature& each : kFeatures) {
      if (each.is_needed(spec, before)) names.emplace_back(each.name);
    }
    return names;
  }

  Status check(const AdmissionAttributes& attributes) const {
    std::vector<std::string> missing = needed(attributes);
    auto node = node_of_pod(attributes, *nodes_);
    if (!node.ok()) return std::move(node).status();
    const std::vector<std::string> declared = texts_of(object_or_empty(*node, "status"), "declaredFeatures");
    std::erase_if(missing, [&](const std::string& name) { return std::find(declared.begin(), declared.end(), name) != declared.end(); });
    if (missing.empty()) return {};
    return admission_forbidden(attributes, "pod update requires features " + joined(missing, ", ") + " which are not available on node " +
                                               backplane::quoted(meta_name(*node)));
  }

  const std::optional<Lister> nodes_;  // empty: the gate is off
};

}  // namespace

Result<std::shared_ptr<AdmissionPlugin>> make_declared_features(Services& services, const AdmissionPluginConfig&) {
  std::optional<Lister> nodes;
  if (services.gate("NodeDeclaredFeatures")) nodes = services.lister({"", "v1", "nodes"});
  return std::shared_ptr<AdmissionPlugin>(std::make_shared<DeclaredFeatures>(std::move(nodes)));
}

}  // namespace backplane::admission::pods
