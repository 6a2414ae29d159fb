// The plugin `certificates`: the group certificates.k8s.io.
#include "backplane/plugin.hpp"

#include "backplane/kit/deferred_install.hpp"
#include "backplane/kit/group.hpp"
#include "backplane/rest/former_versions.hpp"
#include "certificates_former_json.hpp"
#include "former_request.hpp"
#include "kinds.hpp"

namespace backplane::certificates {
namespace {

class CertificatesPlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    auto document = certificates_group();
    if (!document.ok()) return std::move(document).status();
    auto schemas = certificates_schemas();
    if (!schemas.ok()) return std::move(schemas).status();
    kit::defer_gated_kinds(host, *document,
                           {{"ClusterTrustBundle", {"ClusterTrustBundle"}}, {"PodCertificateRequest", {"PodCertificateRequest"}}});
    const auto types = schemas->front();
    const auto strategy = document->kind("CertificateSigningRequest").strategy();
    kit::GroupInstaller group(host, std::move(*document), std::move(*schemas));
    if (Status status = group.add_kinds(); !status.ok()) return status;
    auto approval = host.make_subresource(group.store("certificatesigningrequests"), approval_strategy(strategy));
    if (!approval.ok()) return std::move(approval).status();
    group.put("certificatesigningrequests/approval", std::move(*approval));
    group.put_words("podcertificaterequests", [](const GroupVersionKind&) -> kit::LabelledStorage::Words {
      return {.labels = {"metadata.name", "spec.signerName", "spec.podName", "spec.nodeName"}, .before = "field label not supported: "};
    });
    if (Status status = group.install("certificates"); !status.ok()) return status;
    Status former = add_former_versions(host.scheme(), "certificates", certificates_former_json(), types,
                                        {{{"CertificateSigningRequest", "certificates.k8s.io/v1beta1"}, signing_request_from_v1beta1}});
    if (!former.ok()) return former;
    const bool requests = kit::gate_is_on(host, "PodCertificateRequest");
    if (!requests || !host.resource_enabled({"certificates.k8s.io", "v1beta1", "podcertificaterequests"})) return {};
    return host.register_admission(make_pod_request_signing(host.authorizer()));
  }
};

}  // namespace
}  // namespace backplane::certificates

BACKPLANE_PLUGIN(backplane::certificates::CertificatesPlugin)
