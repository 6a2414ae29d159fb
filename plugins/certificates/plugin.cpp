// The plugin `certificates`: the group certificates.k8s.io.
#include "backplane/plugin.hpp"

#include "backplane/kit/deferred_install.hpp"
#include "backplane/kit/group.hpp"
#include "backplane/rest/former_versions.hpp"
#include "certificates_former_json.hpp"
#include "duration_metrics.hpp"
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
    const auto requests_row = document->kind("CertificateSigningRequest");
    kit::GroupInstaller group(host, std::move(*document), std::move(*schemas));
    if (Status status = group.add_kinds(); !status.ok()) return status;
    if (Status status = add_subresources(host, group, requests_row); !status.ok()) return status;
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

 private:
  static Status add_subresources(Host& host, kit::GroupInstaller& group, const kit::KindRow& requests) {
    const auto store = group.store(requests.resource);
    const auto strategy = requests.strategy();
    auto approval = host.make_subresource(store, approval_strategy(strategy));
    if (!approval.ok()) return std::move(approval).status();
    group.put(requests.resource + "/approval", std::move(*approval));
    auto status = host.make_subresource(store, requests.status_strategy(strategy));
    if (!status.ok()) return std::move(status).status();
    group.put(requests.resource + "/status", make_counted_status(std::move(*status)));
    return {};
  }
};

}  // namespace
}  // namespace backplane::certificates

BACKPLANE_PLUGIN(backplane::certificates::CertificatesPlugin)
