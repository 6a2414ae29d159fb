#include "pods/anti_affinity_topology.hpp"

#include "backplane/core/json_access.hpp"
#include "objects/request_match.hpp"

namespace backplane::admission::pods {
namespace {

constexpr std::string_view kHostname = "kubernetes.io/hostname";

class AntiAffinityTopology final : public AdmissionPlugin {
 public:
  std::string_view name() const noexcept override { return "LimitPodHardAntiAffinityTopology"; }
  bool handles(AdmissionOperation operation) const noexcept override {
    return operation == AdmissionOperation::kCreate || operation == AdmissionOperation::kUpdate;
  }
  bool mutates() const noexcept override { return false; }

  std::optional<Status> validate_now(const AdmissionAttributes& attributes) const override {
    if (!objects::is_main_write(attributes, "", "pods")) return Status();
    const Value* anti_affinity = find_path(*attributes.object, {"spec", "affinity", "podAntiAffinity"});
    if (anti_affinity == nullptr || !anti_affinity->is_object()) return Status();
    Status status;
    each(anti_affinity->get_object(), "requiredDuringSchedulingIgnoredDuringExecution", [&](const Object& term, std::size_t) {
      const std::string_view key = get_string(term, "topologyKey");
      if (status.ok() && key != kHostname) status = refuse(*attributes.object, key);
    });
    return status;
  }

 private:
  static Status refuse(const Object& pod, std::string_view key) {
    return forbidden("", "pods", meta_name(pod),
                     "affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey " + std::string(key) + " but only key " +
                         std::string(kHostname) + " is allowed");
  }
};

}  // namespace

Result<std::shared_ptr<AdmissionPlugin>> make_anti_affinity_topology(Services&, const AdmissionPluginConfig&) {
  return std::shared_ptr<AdmissionPlugin>(std::make_shared<AntiAffinityTopology>());
}

}  // namespace backplane::admission::pods
