#include "objects/owner_resources.hpp"

#include <algorithm>

#include "backplane/core/json_access.hpp"
#include "backplane/net/client.hpp"

namespace backplane::admission::objects {

std::vector<OwnerResource> owner_resources_in(const Object& list, const GroupVersion& version, std::string_view kind) {
  std::vector<OwnerResource> found;
  each(list, "resources", [&](const Object& resource, std::size_t) {
    const std::string_view name = get_string(resource, "name"), served = get_string(resource, "kind");
    // Upstream's RESTMapper also accepts each kind in lower case.
    if (name.find('/') != std::string_view::npos || (served != kind && lower_case(served) != kind)) return;
    found.push_back(
        {GroupVersionResource(version.group, version.version, std::string(name)), get_bool(resource, "namespaced").value_or(false)});
  });
  return found;
}

Task<Result<std::vector<OwnerResource>>> find_owner_resources(Host& host, std::string api_version, std::string kind) {
  if (std::count(api_version.begin(), api_version.end(), '/') > 1) {
    co_return bad_request("unexpected GroupVersion string: " + api_version);
  }
  const GroupVersion version = GroupVersion::parse(api_version.empty() ? "v1" : api_version);
  HttpCall call;
  call.target = version.path();
  ApiClient client(host.client());
  auto asking = client.request(std::move(call));
  auto list = co_await std::move(asking);
  if (!list.ok() && list.status().reason() != Reason::kNotFound) co_return std::move(list).status();
  std::vector<OwnerResource> found;
  if (list.ok()) found = owner_resources_in(*list, version, kind);
  if (!found.empty()) co_return found;
  co_return bad_request("no matches for kind " + backplane::quoted(kind) + " in version " + backplane::quoted(version.to_string()));
}

}  // namespace backplane::admission::objects
