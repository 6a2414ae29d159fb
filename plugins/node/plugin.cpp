// The plugin `node`: the group node.k8s.io.
#include "backplane/plugin.hpp"

#include "backplane/core/json_access.hpp"
#include "backplane/rest/former_versions.hpp"
#include "kinds.hpp"
#include "node_former_json.hpp"

namespace backplane::node {
namespace {

// Moves the members out of `spec`, which only v1alpha1 has.
Status from_v1alpha1(Object& runtime_class) {
  const Object spec(object_or_empty(runtime_class, "spec"));
  erase_member(runtime_class, "spec");
  runtime_class["handler"] = get_string(spec, "runtimeHandler");
  for (const std::string_view member : {"overhead", "scheduling"}) take_member(runtime_class, spec, member);
  return {};
}

class NodePlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    const auto schemas = node_schemas();
    Status status = kit::install_group(host, "node", node_group(), schemas);
    if (!status.ok()) return status;
    return add_former_versions(host.scheme(), "node", node_former_json(), schemas->front(),
                               {{{"RuntimeClass", "node.k8s.io/v1alpha1"}, from_v1alpha1}});
  }
};

}  // namespace
}  // namespace backplane::node

BACKPLANE_PLUGIN(backplane::node::NodePlugin)
