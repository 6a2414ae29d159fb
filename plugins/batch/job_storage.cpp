// What deleting a job leaves behind, and what lists of jobs are told of fields that they cannot select by.
#include "backplane/kit/forwarding_storage.hpp"
#include "kinds.hpp"

namespace backplane::batch {
namespace {

void warn_of_pods(RequestContext& context, const DeleteOptions& options) {
  if (options.propagation_policy || options.orphan_dependents) return;
  context.warn(
      "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set "
      "propagationPolicy=Orphan to suppress this warning");
}

// Other kinds are told it in other words.
Status check_labels(const ListOptions& options) {
  for (const auto& requirement : options.fields.requirements()) {
    const std::string_view label = requirement.field;
    if (label == "metadata.name" || label == "metadata.namespace" || label == "status.successful") continue;
    return bad_request("field label " + quoted(label) + " not supported for Job");
  }
  return {};
}

class JobStorage final : public kit::ForwardingStorage {
 public:
  using ForwardingStorage::ForwardingStorage;
  Task<Result<ListResult>> list(RequestContext& context, ListOptions options) override {
    Status known = check_labels(options);
    if (!known.ok()) co_return known;
    auto listing = store().list(context, std::move(options));
    auto found = co_await std::move(listing);
    co_return found;
  }
  Task<Result<std::unique_ptr<WatchStream>>> watch(RequestContext& context, ListOptions options) override {
    Status known = check_labels(options);
    if (!known.ok()) co_return known;
    auto watching = store().watch(context, std::move(options));
    auto stream = co_await std::move(watching);
    co_return stream;
  }
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
