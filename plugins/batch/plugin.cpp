// The plugin `batch`: the group batch/v1.
#include "backplane/plugin.hpp"

#include "backplane/kit/group.hpp"
#include "kinds.hpp"

namespace backplane::batch {
namespace {

class BatchPlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    auto document = batch_group(workload::pod_validation_options(host));
    if (!document.ok()) return std::move(document).status();
    kit::GroupInstaller group(host, std::move(*document), {batch_schemas()});
    if (Status status = group.add_kinds(); !status.ok()) return status;
    if (auto jobs = group.store("jobs")) group.put("jobs", make_job_storage(std::move(jobs)));
    return group.install("batch");
  }
};

}  // namespace
}  // namespace backplane::batch

BACKPLANE_PLUGIN(backplane::batch::BatchPlugin)
