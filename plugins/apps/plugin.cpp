// The plugin `apps`: the group apps/v1.
#include "backplane/plugin.hpp"

#include "backplane/kit/group.hpp"
#include "backplane/workload/pod_validation.hpp"
#include "kinds.hpp"
#include "shared.hpp"

namespace backplane::apps {
namespace {

using kit::GroupInstaller;

constexpr int kGroupPriority = 17800;
constexpr int kVersionPriority = 15;

class AppsPlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    GroupInstaller group(host, {"apps", "v1"}, apps_schemas());
    const auto options = workload::pod_validation_options(host);
    for (const KindRow& row : {controller_revision_row(), daemon_set_row(options), deployment_row(options), replica_set_row(options),
                               stateful_set_row(options)}) {
      if (Status status = group.add(row); !status.ok()) return status;
    }
    return group.install("apps", kGroupPriority, kVersionPriority);
  }
};

}  // namespace
}  // namespace backplane::apps

BACKPLANE_PLUGIN(backplane::apps::AppsPlugin)
