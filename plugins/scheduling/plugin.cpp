// The plugin `scheduling`: the group scheduling.k8s.io.
#include "backplane/plugin.hpp"

#include "backplane/kit/group.hpp"
#include "scheduling_group_json.hpp"
#include "scheduling_v1_json.hpp"
#include "scheduling_v1alpha2_json.hpp"

namespace backplane::scheduling {
namespace {

class SchedulingPlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    return kit::install_group(host, "scheduling", kit::read_group(scheduling_group_json()), kit::embedded_schemas({scheduling_v1_json(), scheduling_v1alpha2_json()}));
  }
};

}  // namespace
}  // namespace backplane::scheduling

BACKPLANE_PLUGIN(backplane::scheduling::SchedulingPlugin)
