// The plugin `batch`: the group batch/v1.
#include "backplane/plugin.hpp"

#include "backplane/kit/deferred_install.hpp"
#include "backplane/kit/group.hpp"
#include "backplane/rest/former_versions.hpp"
#include "batch_former_json.hpp"
#include "kinds.hpp"

namespace backplane::batch {
namespace {

class BatchPlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    const JobGates gates{.resources = kit::gate_is_on(host, "MutablePodResourcesForSuspendedJobs"),
                         .scheduling = kit::gate_is_on(host, "MutableSchedulingDirectivesForSuspendedJobs")};
    auto document = batch_group(workload::pod_validation_options(host), gates);
    if (!document.ok()) return std::move(document).status();
    kit::GroupInstaller group(host, std::move(*document), {batch_schemas()});
    if (Status status = group.add_kinds(); !status.ok()) return status;
    if (auto jobs = group.store("jobs")) group.put("jobs", make_job_storage(std::move(jobs)));
    Status status = group.install("batch");
    return status.ok() ? add_former_versions(host.scheme(), "batch", batch_former_json(), batch_schemas()) : status;
  }
};

}  // namespace
}  // namespace backplane::batch

BACKPLANE_PLUGIN(backplane::batch::BatchPlugin)
