#include "certificates/trust_bundles.hpp"

#include <array>

#include "backplane/core/json_access.hpp"
#include "certificates/signer_check.hpp"

namespace backplane::admission::certificates {
namespace {

// Members of metadata that the garbage collector and storage migration change.
constexpr std::array<std::string_view, 4> kCollectorMembers = {"ownerReferences", "finalizers", "selfLink", "managedFields"};

Object without_collector_members(const Object& object) {
  Object copy(object);
  if (Object* metadata = mutable_object(copy, "metadata")) {
    for (const std::string_view key : kCollectorMembers) metadata->erase(key);
  }
  return copy;
}

class ClusterTrustBundleAttest final : public SignerCheck {
 public:
  ClusterTrustBundleAttest(Authorizer& authorizer, bool enabled) : SignerCheck(authorizer, "attest"), enabled_(enabled) {}
  std::string_view name() const noexcept override { return "ClusterTrustBundleAttest"; }
  bool handles(AdmissionOperation operation) const noexcept override {
    return operation == AdmissionOperation::kCreate || operation == AdmissionOperation::kUpdate;
  }

 private:
  // The signer of the new object; validation refuses an update that changes the signer.
  std::optional<std::string> signer_of(const AdmissionAttributes& attributes) const override {
    const bool bundle = attributes.resource.group == "certificates.k8s.io" && attributes.resource.resource == "clustertrustbundles";
    if (!enabled_ || !bundle || attributes.object == nullptr) return std::nullopt;
    const std::string_view signer = get_string_path(*attributes.object, "spec.signerName");
    if (signer.empty()) return std::nullopt;
    const bool update = attributes.operation == AdmissionOperation::kUpdate && attributes.old_object != nullptr;
    if (update && without_collector_members(*attributes.object) == without_collector_members(*attributes.old_object)) return std::nullopt;
    return std::string(signer);
  }
  std::string refusal(std::string_view signer) const override { return "user not permitted to attest for signerName " + quoted(signer); }

  const bool enabled_;
};

}  // namespace

std::shared_ptr<AdmissionPlugin> cluster_trust_bundle_attest(Authorizer& authorizer, bool enabled) {
  return std::make_shared<ClusterTrustBundleAttest>(authorizer, enabled);
}

}  // namespace backplane::admission::certificates
