#include "certificates/rows.hpp"

#include <array>

#include "certificates/signing_requests.hpp"
#include "certificates/subject_restriction.hpp"
#include "certificates/trust_bundles.hpp"

namespace backplane::admission {
namespace {

using MadeCertificatePlugin = Result<std::shared_ptr<AdmissionPlugin>>;

MadeCertificatePlugin make_approval(Services& services, const AdmissionPluginConfig&) {
  return certificates::certificate_approval(services.host().authorizer());
}
MadeCertificatePlugin make_signing(Services& services, const AdmissionPluginConfig&) {
  return certificates::certificate_signing(services.host().authorizer());
}
MadeCertificatePlugin make_attest(Services& services, const AdmissionPluginConfig&) {
  return certificates::cluster_trust_bundle_attest(services.host().authorizer(), services.gate("ClusterTrustBundle"));
}
MadeCertificatePlugin make_subject_restriction(Services&, const AdmissionPluginConfig&) {
  return certificates::certificate_subject_restriction();
}

constexpr std::array kCertificateRows = {
    PluginRow{"CertificateApproval", &make_approval},
    PluginRow{"CertificateSigning", &make_signing},
    PluginRow{"ClusterTrustBundleAttest", &make_attest},
    PluginRow{"CertificateSubjectRestriction", &make_subject_restriction},
};

}  // namespace

std::span<const PluginRow> certificate_plugins() { return kCertificateRows; }

}  // namespace backplane::admission
