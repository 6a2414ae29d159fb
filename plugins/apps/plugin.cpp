// The plugin `apps`: the group apps/v1.
#include "backplane/plugin.hpp"

#include "backplane/kit/group.hpp"
#include "backplane/workload/pod_validation.hpp"
#include "former_versions.hpp"
#include "kinds.hpp"

namespace backplane::apps {
namespace {

class AppsPlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    Status status = kit::install_group(host, "apps", apps_group(workload::pod_validation_options(host)), std::vector{apps_schemas()});
    return status.ok() ? add_former_versions(host.scheme()) : status;
  }
};

}  // namespace
}  // namespace backplane::apps

BACKPLANE_PLUGIN(backplane::apps::AppsPlugin)
