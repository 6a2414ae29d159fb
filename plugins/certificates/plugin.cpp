// The plugin `certificates`: the group certificates.k8s.io.
#include "backplane/plugin.hpp"

#include "backplane/kit/group.hpp"
#include "certificates_group_json.hpp"
#include "certificates_v1_json.hpp"
#include "certificates_v1alpha1_json.hpp"
#include "certificates_v1beta1_json.hpp"

namespace backplane::certificates {
namespace {

class CertificatesPlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    return kit::install_group(host, "certificates", kit::read_group(certificates_group_json()), kit::embedded_schemas({certificates_v1_json(), certificates_v1beta1_json(), certificates_v1alpha1_json()}));
  }
};

}  // namespace
}  // namespace backplane::certificates

BACKPLANE_PLUGIN(backplane::certificates::CertificatesPlugin)
