#include "backplane/kit/labelled_storage.hpp"

#include <algorithm>

namespace backplane BACKPLANE_API {
namespace kit BACKPLANE_API {

Status LabelledStorage::check_labels(const ListOptions& options) const {
  for (const auto& requirement : options.fields.requirements()) {
    const auto& labels = words_.labels;
    if (std::find(labels.begin(), labels.end(), requirement.field) != labels.end()) continue;
    return bad_request(words_.before + requirement.field + words_.after);
  }
  return {};
}

Task<Result<ListResult>> LabelledStorage::list(RequestContext& context, ListOptions options) {
  Status known = check_labels(options);
  if (!known.ok()) co_return known;
  auto listing = store().list(context, std::move(options));
  auto found = co_await std::move(listing);
  co_return found;
}

Task<Result<std::unique_ptr<WatchStream>>> LabelledStorage::watch(RequestContext& context, ListOptions options) {
  Status known = check_labels(options);
  if (!known.ok()) co_return known;
  auto watching = store().watch(context, std::move(options));
  auto stream = co_await std::move(watching);
  co_return stream;
}

Task<Result<ListResult>> LabelledStorage::remove_collection(RequestContext& context, DeleteOptions options, ListOptions list) {
  Status known = check_labels(list);
  if (!known.ok()) co_return known;
  auto removing = store().remove_collection(context, std::move(options), std::move(list));
  auto removed = co_await std::move(removing);
  co_return removed;
}

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
