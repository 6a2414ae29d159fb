// The plugin `discovery`: the group discovery.k8s.io.
#include "backplane/plugin.hpp"

#include "backplane/kit/group.hpp"
#include "discovery_group_json.hpp"
#include "discovery_v1_json.hpp"

namespace backplane::discovery {
namespace {

class DiscoveryPlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    return kit::install_group(host, "discovery", kit::read_group(discovery_group_json()), kit::embedded_schemas({discovery_v1_json()}));
  }
};

}  // namespace
}  // namespace backplane::discovery

BACKPLANE_PLUGIN(backplane::discovery::DiscoveryPlugin)
