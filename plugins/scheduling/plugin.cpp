// The plugin `scheduling`: the group scheduling.k8s.io, and the priority classes that are always there.
#include "backplane/plugin.hpp"

#include "backplane/kit/deferred_install.hpp"
#include "backplane/rest/former_versions.hpp"
#include "kinds.hpp"
#include "scheduling_former_json.hpp"
#include "system_classes.hpp"

namespace backplane::scheduling {
namespace {

class SchedulingPlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    auto group = scheduling_group();
    auto schemas = scheduling_schemas();
    if (group.ok()) kit::defer_gated_kinds(host, *group, {{"Workload", {"GenericWorkload"}}, {"PodGroup", {"GenericWorkload"}}});
    Status status = kit::install_group(host, "scheduling", std::move(group), schemas);
    if (status.ok()) status = add_former_versions(host.scheme(), "scheduling", scheduling_former_json(), schemas->front());
    // What --runtime-config switched off cannot be made, and need not be.
    if (!status.ok() || !host.resource_enabled({"scheduling.k8s.io", "v1", "priorityclasses"})) return status;
    return host.add_post_start_hook("scheduling/bootstrap-system-priority-classes",
                                    [&host](PostStartHookContext context) { return start(host, context); });
  }

 private:
  static Task<Status> start(Host& host, PostStartHookContext context) {
    return make_system_classes(std::make_shared<ApiClient>(host.client()), context.stop, host.logger());
  }
};

}  // namespace
}  // namespace backplane::scheduling

BACKPLANE_PLUGIN(backplane::scheduling::SchedulingPlugin)
