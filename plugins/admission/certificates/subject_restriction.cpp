#include "certificates/subject_restriction.hpp"

#include <algorithm>

#include "backplane/core/json_access.hpp"
#include "certificates/request_subject.hpp"

namespace backplane::admission::certificates {
namespace {

constexpr std::string_view kClientSigner = "kubernetes.io/kube-apiserver-client";
constexpr std::string_view kMasters = "system:masters";

class CertificateSubjectRestriction final : public AdmissionPlugin {
 public:
  std::string_view name() const noexcept override { return "CertificateSubjectRestriction"; }
  bool handles(AdmissionOperation operation) const noexcept override { return operation == AdmissionOperation::kCreate; }
  bool mutates() const noexcept override { return false; }

  std::optional<Status> validate_now(const AdmissionAttributes& attributes) const override {
    const bool request = attributes.resource.group == "certificates.k8s.io" && attributes.resource.resource == "certificatesigningrequests";
    if (!request || !attributes.subresource.empty() || attributes.object == nullptr) return Status();
    const Object& spec = object_or_empty(*attributes.object, "spec");
    if (get_string(spec, "signerName") != kClientSigner) return Status();
    const auto subject = read_request_subject(get_string(spec, "request"));
    if (!subject.ok()) return admission_forbidden(attributes, "failed to parse CSR: " + subject.status().message());
    const auto& groups = subject->organizations;
    if (std::find(groups.begin(), groups.end(), kMasters) == groups.end()) return Status();
    return admission_forbidden(attributes,
                               "use of " + std::string(kClientSigner) + " signer with " + std::string(kMasters) + " group is not allowed");
  }
};

}  // namespace

std::shared_ptr<AdmissionPlugin> certificate_subject_restriction() { return std::make_shared<CertificateSubjectRestriction>(); }

}  // namespace backplane::admission::certificates
