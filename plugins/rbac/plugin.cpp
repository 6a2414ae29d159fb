// The plugin `rbac`: the group rbac.authorization.k8s.io and the authorizer RBAC.
#include "backplane/plugin.hpp"

#include <algorithm>
#include <array>

#include "authorizer.hpp"
#include "backplane/kit/group.hpp"
#include "bootstrap.hpp"
#include "escalation.hpp"
#include "former_versions.hpp"
#include "policy_bootstrap.hpp"
#include "roles.hpp"

namespace backplane::rbac {
namespace {

constexpr std::array kResources = {kClusterRoles, kClusterRoleBindings, kRoles, kRoleBindings};

class RbacPlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    auto authorizer = std::make_shared<RbacAuthorizer>();
    Status status = install(host, authorizer);
    if (status.ok()) status = add_former_versions(host.scheme());
    // Without the group's resources there are no roles, so the authorizer is not registered.
    if (!status.ok() || !resources_enabled(host)) return status;
    status = host.register_authorizer(authorizer);
    return status.ok() ? add_hook(host, std::move(authorizer)) : status;
  }

 private:
  static bool resources_enabled(const Host& host) {
    return std::all_of(kResources.begin(), kResources.end(),
                       [&](std::string_view resource) { return host.resource_enabled(resource_of(resource)); });
  }

  static Status install(Host& host, std::shared_ptr<const RbacAuthorizer> authorizer) {
    auto group = rbac_group();
    if (!group.ok()) return std::move(group).status();
    auto schemas = rbac_schemas();
    if (!schemas.ok()) return std::move(schemas).status();
    kit::GroupInstaller installer(host, std::move(*group), std::move(*schemas));
    if (Status status = installer.add_kinds(); !status.ok()) return status;
    const EscalationChecks checks{std::move(authorizer), &host.authorizer(), installer.store(std::string(kRoles)),
                                  installer.store(std::string(kClusterRoles))};
    for (const std::string_view resource : {kClusterRoles, kRoles}) {
      installer.put(std::string(resource), make_checked_roles(installer.store(std::string(resource)), checks));
    }
    for (const std::string_view resource : {kClusterRoleBindings, kRoleBindings}) {
      installer.put(std::string(resource), make_checked_bindings(installer.store(std::string(resource)), checks));
    }
    return installer.install("rbac");
  }

  static Status add_hook(Host& host, std::shared_ptr<RbacAuthorizer> authorizer) {
    auto bootstrap = std::make_shared<PolicyBootstrap>(host);
    const auto start = [&host, bootstrap, authorizer](PostStartHookContext context) {
      return run_hook(host, bootstrap, authorizer, context);
    };
    // Stored roles decide on writes of roles even if the host skips the hook (--authorization-mode without RBAC).
    host.groups_complete().on_fire([&host, authorizer] { host.spawn("rbac-authorizer", opened(host, authorizer)); });
    return host.add_post_start_hook("rbac/bootstrap-roles", start);
  }
  static Task<void> opened(Host& host, std::shared_ptr<RbacAuthorizer> authorizer) {
    authorizer->start(host);
    (void)co_await authorizer->wait_synced();
  }
  // Ends when the default roles exist and decisions take them into account.
  static Task<Status> run_hook(Host& host, std::shared_ptr<PolicyBootstrap> bootstrap, std::shared_ptr<RbacAuthorizer> authorizer,
                               PostStartHookContext context) {
    // Stored roles decide while missing ones are still being created.
    authorizer->start(host);
    Status status = co_await bootstrap->start(context);
    if (status.ok()) (void)co_await authorizer->wait_synced();
    co_return status;
  }
};

}  // namespace
}  // namespace backplane::rbac

BACKPLANE_PLUGIN(backplane::rbac::RbacPlugin)
