// The plugin `flowcontrol`: the group flowcontrol.apiserver.k8s.io.
#include "backplane/plugin.hpp"

#include "backplane/kit/group.hpp"
#include "flowcontrol_group_json.hpp"
#include "flowcontrol_v1_json.hpp"

namespace backplane::flowcontrol {
namespace {

class FlowcontrolPlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    return kit::install_group(host, "flowcontrol", kit::read_group(flowcontrol_group_json()), kit::embedded_schemas({flowcontrol_v1_json()}));
  }
};

}  // namespace
}  // namespace backplane::flowcontrol

BACKPLANE_PLUGIN(backplane::flowcontrol::FlowcontrolPlugin)
