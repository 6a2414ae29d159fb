#include "quota/stored_list.hpp"

#include "backplane/core/request.hpp"
#include "backplane/rest/roles.hpp"

namespace backplane::admission::quota {

Task<Result<std::vector<ObjectRef>>> stored_list(Host& host, GroupVersionResource resource, std::string ns, std::string resource_version,
                                                 bool transient_objects) {
  std::vector<ObjectRef> out;
  const auto storage = host.find_storage(resource);
  auto* const lister = role_of<backplane::Lister>(storage);
  if (lister == nullptr) co_return out;
  RequestContext own;
  own.info.ns = std::move(ns);
  ListOptions options;
  options.resource_version = std::move(resource_version);
  options.transient_objects = transient_objects;
  auto listing = lister->list(own, std::move(options));
  auto listed = co_await std::move(listing);
  if (!listed.ok()) co_return std::move(listed.status());
  // A cursor's objects are valid until its next step.
  auto visiting = for_each(*listed->items, [&out](const ObjectEntry& entry) { out.push_back(std::make_shared<const ObjectEntry>(entry)); });
  Status visited = co_await std::move(visiting);
  if (!visited.ok()) co_return visited;
  co_return out;
}

}  // namespace backplane::admission::quota
