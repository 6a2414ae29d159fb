// The plugin `discovery`: the group discovery.k8s.io.
#include "backplane/plugin.hpp"

#include "backplane/core/json_access.hpp"
#include "backplane/kit/group.hpp"
#include "backplane/rest/former_versions.hpp"
#include "discovery_former_json.hpp"
#include "kinds.hpp"

namespace backplane::discovery {
namespace {

using namespace kit;

// In v1beta1 the map `topology` contains the zone and usually the node. Moves the zone to its member, and other entries to v1's
// deprecatedTopology.
void topology_to_v1(Object& endpoint) {
  const Object topology(object_or_empty(endpoint, "topology"));
  erase_member(endpoint, "topology");
  Object rest(endpoint.storage());
  for (const auto& [label, value] : topology) {
    if (label == "topology.kubernetes.io/zone") {
      endpoint["zone"] = value;
    } else if (label != "kubernetes.io/hostname" || !has(endpoint, "nodeName") || text_of(value) != get_string(endpoint, "nodeName")) {
      rest[label] = value;
    }
  }
  if (!rest.empty()) endpoint["deprecatedTopology"] = std::move(rest);
}

Status from_v1beta1(Object& slice) {
  each_mutable(slice, "endpoints", topology_to_v1);
  return {};
}

class DiscoveryPlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    const auto schemas = discovery_schemas();
    Status status = kit::install_group(host, "discovery", discovery_group(), schemas);
    if (!status.ok()) return status;
    return add_former_versions(host.scheme(), "discovery", discovery_former_json(), schemas->front(),
                               {{{"EndpointSlice", "discovery.k8s.io/v1beta1"}, from_v1beta1}});
  }
};

}  // namespace
}  // namespace backplane::discovery

BACKPLANE_PLUGIN(backplane::discovery::DiscoveryPlugin)
