#include "network/external_ips.hpp"

#include <algorithm>

#include "backplane/core/json_access.hpp"

namespace backplane::admission::network {
namespace {

std::vector<std::string> external_ips(const Object* service) {
  return service != nullptr ? texts_of(object_or_empty(*service, "spec"), "externalIPs") : std::vector<std::string>();
}

class DenyServiceExternalIPs final : public AdmissionPlugin {
 public:
  std::string_view name() const noexcept override { return "DenyServiceExternalIPs"; }
  bool handles(AdmissionOperation operation) const noexcept override {
    return operation == AdmissionOperation::kCreate || operation == AdmissionOperation::kUpdate;
  }
  bool mutates() const noexcept override { return false; }

  std::optional<Status> validate_now(const AdmissionAttributes& attributes) const override {
    const bool service = attributes.resource.group.empty() && attributes.resource.resource == "services";
    if (!service || !attributes.subresource.empty()) return Status();
    const auto now = external_ips(attributes.object), before = external_ips(attributes.old_object);
    const bool kept = std::all_of(now.begin(), now.end(), [&](const std::string& address) {
      return std::find(before.begin(), before.end(), address) != before.end();
    });
    return kept ? Status() : admission_forbidden(attributes, "Use of external IPs is denied by admission control");
  }
};

}  // namespace

Result<std::shared_ptr<AdmissionPlugin>> make_deny_external_ips(Services&, const AdmissionPluginConfig&) {
  return std::shared_ptr<AdmissionPlugin>(std::make_shared<DenyServiceExternalIPs>());
}

}  // namespace backplane::admission::network
