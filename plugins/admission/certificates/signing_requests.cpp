#include "certificates/signing_requests.hpp"

#include "backplane/core/json_access.hpp"
#include "certificates/signer_check.hpp"

namespace backplane::admission::certificates {
namespace {

bool is_update_of(const AdmissionAttributes& attributes, std::string_view subresource) {
  return attributes.subresource == subresource && attributes.resource.group == "certificates.k8s.io" &&
         attributes.resource.resource == "certificatesigningrequests" && attributes.old_object != nullptr;
}

// The signer of the stored object, because a client must not choose another signer with the same update.
std::string stored_signer(const AdmissionAttributes& attributes) {
  return std::string(get_string_path(*attributes.old_object, "spec.signerName"));
}

bool same_conditions(const Object& a, const Object& b) {
  return (count_of(a, "conditions") == 0 && count_of(b, "conditions") == 0) || same_member(a, b, "conditions");
}

bool same_outcome(const Object& request, const Object& old) {
  const Object &status = object_or_empty(request, "status"), &before = object_or_empty(old, "status");
  return get_string(status, "certificate") == get_string(before, "certificate") && same_conditions(status, before);
}

class CertificateApproval final : public SignerCheck {
 public:
  explicit CertificateApproval(Authorizer& authorizer) : SignerCheck(authorizer, "approve") {}
  std::string_view name() const noexcept override { return "CertificateApproval"; }
  bool handles(AdmissionOperation operation) const noexcept override { return operation == AdmissionOperation::kUpdate; }

 private:
  std::optional<std::string> signer_of(const AdmissionAttributes& attributes) const override {
    if (!is_update_of(attributes, "approval")) return std::nullopt;
    return stored_signer(attributes);
  }
  std::string refusal(std::string_view signer) const override {
    return "user not permitted to approve requests with signerName " + quoted(signer);
  }
};

class CertificateSigning final : public SignerCheck {
 public:
  explicit CertificateSigning(Authorizer& authorizer) : SignerCheck(authorizer, "sign") {}
  std::string_view name() const noexcept override { return "CertificateSigning"; }
  bool handles(AdmissionOperation operation) const noexcept override { return operation == AdmissionOperation::kUpdate; }

 private:
  std::optional<std::string> signer_of(const AdmissionAttributes& attributes) const override {
    if (!is_update_of(attributes, "status") || attributes.object == nullptr) return std::nullopt;
    if (same_outcome(*attributes.object, *attributes.old_object)) return std::nullopt;
    return stored_signer(attributes);
  }
  std::string refusal(std::string_view signer) const override {
    return "user not permitted to sign requests with signerName " + quoted(signer);
  }
};

}  // namespace

std::shared_ptr<AdmissionPlugin> certificate_approval(Authorizer& authorizer) { return std::make_shared<CertificateApproval>(authorizer); }
std::shared_ptr<AdmissionPlugin> certificate_signing(Authorizer& authorizer) { return std::make_shared<CertificateSigning>(authorizer); }

}  // namespace backplane::admission::certificates
