// The plugin `networking`: the group networking.k8s.io.
#include "backplane/plugin.hpp"

#include "backplane/kit/group.hpp"
#include "networking_group_json.hpp"
#include "networking_v1_json.hpp"
#include "networking_v1beta1_json.hpp"

namespace backplane::networking {
namespace {

class NetworkingPlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    return kit::install_group(host, "networking", kit::read_group(networking_group_json()), kit::embedded_schemas({networking_v1_json(), networking_v1beta1_json()}));
  }
};

}  // namespace
}  // namespace backplane::networking

BACKPLANE_PLUGIN(backplane::networking::NetworkingPlugin)
