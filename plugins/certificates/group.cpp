// Assembles the group certificates.k8s.io.
#include "backplane/kit/group.hpp"
#include "certificates_group_json.hpp"
#include "certificates_v1_json.hpp"
#include "certificates_v1alpha1_json.hpp"
#include "certificates_v1beta1_json.hpp"
#include "kinds.hpp"

namespace backplane::certificates {

Result<kit::GroupDocument> certificates_group() {
  return kit::read_group(
      certificates_group_json(),
      {.printers = {{"duration", show_duration}, {"signingState", print_signing_state}, {"podRequestState", print_pod_request_state}},
       .kinds = {{"CertificateSigningRequest", signing_request_code()},
                 {"ClusterTrustBundle", trust_bundle_code()},
                 {"PodCertificateRequest", pod_request_code()}}});
}

Result<std::vector<std::shared_ptr<const SchemaSet>>> certificates_schemas() {
  return kit::embedded_schemas({certificates_v1_json(), certificates_v1beta1_json(), certificates_v1alpha1_json()});
}

}  // namespace backplane::certificates
