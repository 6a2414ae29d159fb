// The plugin `coordination`: the group coordination.k8s.io.
#include "backplane/plugin.hpp"

#include "backplane/kit/group.hpp"
#include "coordination_group_json.hpp"
#include "coordination_v1_json.hpp"
#include "coordination_v1alpha2_json.hpp"
#include "coordination_v1beta1_json.hpp"

namespace backplane::coordination {
namespace {

class CoordinationPlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    return kit::install_group(host, "coordination", kit::read_group(coordination_group_json()), kit::embedded_schemas({coordination_v1_json(), coordination_v1beta1_json(), coordination_v1alpha2_json()}));
  }
};

}  // namespace
}  // namespace backplane::coordination

BACKPLANE_PLUGIN(backplane::coordination::CoordinationPlugin)
