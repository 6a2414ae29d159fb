// The plugin `admissionregistration`: the group admissionregistration.k8s.io.
#include "backplane/plugin.hpp"

#include "admissionregistration_former_json.hpp"
#include "backplane/kit/group.hpp"
#include "backplane/rest/former_versions.hpp"
#include "kinds.hpp"
#include "param_authorization.hpp"

namespace backplane::admissionregistration {
namespace {

class AdmissionregistrationPlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    const bool reserved = host.flag("feature-gates.ManifestBasedAdmissionControlConfig") == "true";
    const auto schemas = admissionregistration_schemas();
    Status status = kit::install_group(host, "admissionregistration", admissionregistration_group(reserved), schemas);
    if (!status.ok()) return status;
    status = host.register_admission(make_param_authorization(host));
    if (!status.ok()) return status;
    return add_former_versions(host.scheme(), "admissionregistration", admissionregistration_former_json(), schemas.front());
  }
};

}  // namespace
}  // namespace backplane::admissionregistration

BACKPLANE_PLUGIN(backplane::admissionregistration::AdmissionregistrationPlugin)
