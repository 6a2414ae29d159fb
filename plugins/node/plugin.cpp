// The plugin `node`: the group node.k8s.io.
#include "backplane/plugin.hpp"

#include "kinds.hpp"

namespace backplane::node {
namespace {

class NodePlugin final : public Plugin {
 public:
  Status provision(Host& host) override { return kit::install_group(host, "node", node_group(), node_schemas()); }
};

}  // namespace
}  // namespace backplane::node

BACKPLANE_PLUGIN(backplane::node::NodePlugin)
