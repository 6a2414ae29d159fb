// The plugin `admissionregistration`: the group admissionregistration.k8s.io.
#include "backplane/plugin.hpp"

#include "backplane/kit/group.hpp"
#include "admissionregistration_group_json.hpp"
#include "admissionregistration_v1_json.hpp"
#include "admissionregistration_v1alpha1_json.hpp"
#include "admissionregistration_v1beta1_json.hpp"

namespace backplane::admissionregistration {
namespace {

class AdmissionregistrationPlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    return kit::install_group(host, "admissionregistration", kit::read_group(admissionregistration_group_json()), kit::embedded_schemas({admissionregistration_v1_json(), admissionregistration_v1beta1_json(), admissionregistration_v1alpha1_json()}));
  }
};

}  // namespace
}  // namespace backplane::admissionregistration

BACKPLANE_PLUGIN(backplane::admissionregistration::AdmissionregistrationPlugin)
