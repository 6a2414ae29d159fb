#include "objects/pod_group_protection.hpp"

#include <algorithm>

#include "objects/request_match.hpp"

namespace backplane::admission::objects {
namespace {

constexpr std::string_view kProtection = "scheduling.k8s.io/podgroup-protection";

class PodGroupProtection final : public AdmissionPlugin {
 public:
  explicit PodGroupProtection(bool enabled) : enabled_(enabled) {}

  std::string_view name() const noexcept override { return "PodGroupProtection"; }
  bool handles(AdmissionOperation operation) const noexcept override { return operation == AdmissionOperation::kCreate; }
  bool validates() const noexcept override { return false; }

  std::optional<Status> admit_now(AdmissionAttributes& attributes) const override {
    if (!enabled_ || !is_main_write(attributes, "scheduling.k8s.io", "podgroups")) return Status();
    ObjectMeta meta(*attributes.object);
    std::vector<std::string> finalizers = meta.finalizers();
    if (std::find(finalizers.begin(), finalizers.end(), kProtection) != finalizers.end()) return Status();
    finalizers.emplace_back(kProtection);
    meta.set_finalizers(finalizers);
    return Status();
  }

 private:
  const bool enabled_;
};

}  // namespace

Result<std::shared_ptr<AdmissionPlugin>> make_pod_group_protection(Services& services, const AdmissionPluginConfig&) {
  return std::shared_ptr<AdmissionPlugin>(std::make_shared<PodGroupProtection>(services.gate("GenericWorkload")));
}

}  // namespace backplane::admission::objects
