// The plugin `scheduling`: the group scheduling.k8s.io, and the system priority classes.
#include "backplane/plugin.hpp"

#include "backplane/kit/deferred_install.hpp"
#include "backplane/rest/former_versions.hpp"
#include "kinds.hpp"
#include "priority_classes.hpp"
#include "scheduling_former_json.hpp"
#include "system_classes.hpp"

namespace backplane::scheduling {
namespace {

class SchedulingPlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    auto group = scheduling_group();
    auto schemas = scheduling_schemas();
    if (!group.ok()) return std::move(group).status();
    if (!schemas.ok()) return std::move(schemas).status();
    kit::defer_gated_kinds(host, *group, {{"Workload", {"GenericWorkload"}}, {"PodGroup", {"GenericWorkload"}}});
    Status status = install(host, std::move(*group), *schemas);
    if (status.ok()) status = add_former_versions(host.scheme(), "scheduling", scheduling_former_json(), schemas->front());
    // Objects of a resource that --runtime-config disables cannot be created, so the hook is not registered.
    if (!status.ok() || !host.resource_enabled({"scheduling.k8s.io", "v1", "priorityclasses"})) return status;
    return host.add_post_start_hook("scheduling/bootstrap-system-priority-classes",
                                    [&host](PostStartHookContext context) { return start(host, context); });
  }

 private:
  static Status install(Host& host, kit::GroupDocument group, std::vector<std::shared_ptr<const SchemaSet>> schemas) {
    kit::GroupInstaller installer(host, std::move(group), std::move(schemas));
    Status status = installer.add_kinds();
    if (!status.ok()) return status;
    installer.put("priorityclasses", std::make_shared<PriorityClasses>(installer.store("priorityclasses")));
    return installer.install("scheduling");
  }

  static Task<Status> start(Host& host, PostStartHookContext context) {
    return make_system_classes(std::make_shared<ApiClient>(host.client()), context.stop, host.logger());
  }
};

}  // namespace
}  // namespace backplane::scheduling

BACKPLANE_PLUGIN(backplane::scheduling::SchedulingPlugin)
