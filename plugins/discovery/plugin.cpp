// The plugin `discovery`: the group discovery.k8s.io.
#include "backplane/plugin.hpp"

#include "backplane/kit/group.hpp"
#include "kinds.hpp"

namespace backplane::discovery {
namespace {

class DiscoveryPlugin final : public Plugin {
 public:
  Status provision(Host& host) override { return kit::install_group(host, "discovery", discovery_group(), discovery_schemas()); }
};

}  // namespace
}  // namespace backplane::discovery

BACKPLANE_PLUGIN(backplane::discovery::DiscoveryPlugin)
