// The plugin `rbac`: the group rbac.authorization.k8s.io.
#include "backplane/plugin.hpp"

#include "backplane/kit/group.hpp"
#include "bootstrap.hpp"
#include "former_versions.hpp"
#include "policy_bootstrap.hpp"
#include "roles.hpp"

namespace backplane::rbac {
namespace {

class RbacPlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    Status status = kit::install_group(host, "rbac", rbac_group(), rbac_schemas());
    if (status.ok()) status = add_former_versions(host.scheme());
    return status.ok() ? add_hook(host) : status;
  }

 private:
  static Status add_hook(Host& host) {
    // What --runtime-config switched off cannot be made, and need not be.
    for (const std::string_view resource : {kClusterRoles, kClusterRoleBindings, kRoles, kRoleBindings}) {
      if (!host.resource_enabled(resource_of(resource))) return {};
    }
    auto keeper = std::make_shared<PolicyBootstrap>(host);
    return host.add_post_start_hook("rbac/bootstrap-roles", [keeper](PostStartHookContext context) { return keeper->start(context); });
  }
};

}  // namespace
}  // namespace backplane::rbac

BACKPLANE_PLUGIN(backplane::rbac::RbacPlugin)
