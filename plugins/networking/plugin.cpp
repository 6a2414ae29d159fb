// The plugin `networking`: the group networking.k8s.io, and the ServiceCIDR of this server's ranges.
#include "backplane/plugin.hpp"

#include "backplane/kit/group.hpp"
#include "default_service_cidr.hpp"
#include "former_versions.hpp"
#include "kinds.hpp"

namespace backplane::networking {
namespace {

class NetworkingPlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    Status status = kit::install_group(host, "networking", networking_group(), networking_schemas());
    if (status.ok()) status = add_former_versions(host.scheme());
    // Objects of a resource that --runtime-config disables cannot be created, so the hook is not registered.
    if (!status.ok() || !host.resource_enabled({"networking.k8s.io", "v1", "servicecidrs"})) return status;
    auto ranges = canonical_ranges(host.flag("service-cluster-ip-range").value_or(""));
    auto controller = std::make_shared<DefaultServiceCidr>(host, std::move(ranges));
    return host.add_post_start_hook("start-kubernetes-service-cidr-controller",
                                    [controller](PostStartHookContext context) { return controller->start(context); });
  }
};

}  // namespace
}  // namespace backplane::networking

BACKPLANE_PLUGIN(backplane::networking::NetworkingPlugin)
