// The plugin `node`: the group node.k8s.io.
#include "backplane/plugin.hpp"

#include "backplane/kit/group.hpp"
#include "node_group_json.hpp"
#include "node_v1_json.hpp"

namespace backplane::node {
namespace {

class NodePlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    return kit::install_group(host, "node", kit::read_group(node_group_json()), kit::embedded_schemas({node_v1_json()}));
  }
};

}  // namespace
}  // namespace backplane::node

BACKPLANE_PLUGIN(backplane::node::NodePlugin)
