// The plugin `coordination`: the group coordination.k8s.io, the identity lease of this server, and the removal of expired ones.
#include "backplane/plugin.hpp"

#include "backplane/kit/deferred_install.hpp"
#include "backplane/kit/group.hpp"
#include "backplane/kit/server_identity.hpp"
#include "backplane/rest/former_versions.hpp"
#include "coordination_former_json.hpp"
#include "coordination_group_json.hpp"
#include "coordination_v1_json.hpp"
#include "coordination_v1alpha2_json.hpp"
#include "coordination_v1beta1_json.hpp"
#include "identity_lease.hpp"
#include "kinds.hpp"
#include "lease_collector.hpp"

namespace backplane::coordination {

Result<std::vector<std::shared_ptr<const SchemaSet>>> coordination_schemas() {
  return kit::embedded_schemas({coordination_v1_json(), coordination_v1beta1_json(), coordination_v1alpha2_json()});
}

Result<kit::GroupDocument> coordination_group() {
  return kit::read_group(coordination_group_json(), {.kinds = {{"Lease", lease_code()}, {"LeaseCandidate", lease_candidate_code()}}});
}

namespace {

class CoordinationPlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    const auto schemas = coordination_schemas();
    Status status = kit::install_group(host, "coordination", coordination_group(), schemas);
    if (status.ok()) status = add_former_versions(host.scheme(), "coordination", coordination_former_json(), schemas->front());
    // The hooks are not registered if --runtime-config disables leases, which then cannot be written, or if the gate is off.
    if (!status.ok() || !host.resource_enabled(leases()) || !kit::gate_is_on(host, "APIServerIdentity")) return status;
    auto lease = std::make_shared<IdentityLease>(host, IdentityLease::Identity{kit::host_name(), kit::peer_address(host).text()});
    status = host.add_post_start_hook("start-kube-apiserver-identity-lease-controller",
                                      [lease](PostStartHookContext context) { return lease->start(context); });
    if (!status.ok()) return status;
    status = host.add_pre_shutdown_hook("stop-kube-apiserver-identity-lease-controller", [lease] { return lease->stop(); });
    if (!status.ok()) return status;
    return host.add_post_start_hook("start-kube-apiserver-identity-lease-garbage-collector",
                                    [&host](PostStartHookContext context) { return start_collector(host, context); });
  }

 private:
  static Task<Status> start_collector(Host& host, PostStartHookContext context) {
    host.spawn("lease-collector", collect_leases(std::make_shared<ApiClient>(host.client()), context.stop, host.logger()));
    co_return Status();
  }
};

}  // namespace
}  // namespace backplane::coordination

BACKPLANE_PLUGIN(backplane::coordination::CoordinationPlugin)
