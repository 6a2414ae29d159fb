#include "objects/always.hpp"

namespace backplane::admission {
namespace {

class AlwaysAdmit final : public AdmissionPlugin {
 public:
  std::string_view name() const noexcept override { return "AlwaysAdmit"; }
  bool handles(AdmissionOperation) const noexcept override { return true; }
  std::optional<Status> admit_now(AdmissionAttributes&) const override { return Status(); }
  std::optional<Status> validate_now(const AdmissionAttributes&) const override { return Status(); }
};

class AlwaysDeny final : public AdmissionPlugin {
 public:
  std::string_view name() const noexcept override { return "AlwaysDeny"; }
  bool handles(AdmissionOperation) const noexcept override { return true; }
  std::optional<Status> admit_now(AdmissionAttributes& attributes) const override { return deny(attributes); }
  std::optional<Status> validate_now(const AdmissionAttributes& attributes) const override { return deny(attributes); }

 private:
  static Status deny(const AdmissionAttributes& attributes) {
    return admission_forbidden(attributes, "admission control is denying all modifications");
  }
};

}  // namespace

Result<std::shared_ptr<AdmissionPlugin>> make_always_admit(Services& services, const AdmissionPluginConfig&) {
  services.host().logger().warn("AlwaysAdmit admission plugin is deprecated and has no effect");
  return std::shared_ptr<AdmissionPlugin>(std::make_shared<AlwaysAdmit>());
}

Result<std::shared_ptr<AdmissionPlugin>> make_always_deny(Services& services, const AdmissionPluginConfig&) {
  services.host().logger().warn("AlwaysDeny admission plugin is deprecated; it refuses every write");
  return std::shared_ptr<AdmissionPlugin>(std::make_shared<AlwaysDeny>());
}

}  // namespace backplane::admission
