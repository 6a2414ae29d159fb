// Warnings for a job that is deleted without its pods, and errors of lists of jobs for field selectors that are not supported.
#include "backplane/kit/labelled_storage.hpp"
#include "kinds.hpp"

namespace backplane::batch {
namespace {

void warn_of_pods(RequestContext& context, const DeleteOptions& options) {
  if (options.propagation_policy || options.orphan_dependents) return;
  context.warn(
      "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set "
      "propagationPolicy=Orphan to suppress this warning");
}

class JobStorage final : public kit::LabelledStorage {
 public:
  explicit JobStorage(std::shared_ptr<StandardStorage> jobs)
      : LabelledStorage(std::move(jobs),
                        {{"metadata.name", "metadata.namespace", "status.successful"}, "field label \"", "\" not supported for Job"}) {}
  Task<Result<DeleteResult>> remove(RequestContext& context, std::string name, DeleteOptions options) override {
    warn_of_pods(context, options);
    return store().remove(context, std::move(name), std::move(options));
  }
  Task<Result<ListResult>> remove_collection(RequestContext& context, DeleteOptions options, ListOptions list) override {
    Status known = check_labels(list);
    if (!known.ok()) co_return known;
    warn_of_pods(context, options);
    auto removing = store().remove_collection(context, std::move(options), std::move(list));
    auto removed = co_await std::move(removing);
    co_return removed;
  }
};

}  // namespace

std::shared_ptr<StandardStorage> make_job_storage(std::shared_ptr<StandardStorage> jobs) {
  return std::make_shared<JobStorage>(std::move(jobs));
}

}  // namespace backplane::batch
