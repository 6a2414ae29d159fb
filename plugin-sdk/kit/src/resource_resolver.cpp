#include "backplane/kit/resource_resolver.hpp"

#include <algorithm>

#include "backplane/core/json_access.hpp"

namespace backplane::kit {
namespace {

const Object* find_resource(const Object& list, std::string_view kind) {
  const Object* found = nullptr;
  each(list, "resources", [&](const Object& resource, std::size_t) {
    const bool subresource = get_string(resource, "name").find('/') != std::string_view::npos;
    if (found == nullptr && !subresource && get_string(resource, "kind") == kind) found = &resource;
  });
  return found;
}

}  // namespace

Result<GroupVersion> parse_group_version(std::string_view api_version) {
  const auto slashes = std::count(api_version.begin(), api_version.end(), '/');
  if (slashes > 1) return bad_request("unexpected GroupVersion string: " + std::string(api_version));
  const auto slash = api_version.find('/');
  if (slash == std::string_view::npos) return GroupVersion{"", std::string(api_version)};
  return GroupVersion{std::string(api_version.substr(0, slash)), std::string(api_version.substr(slash + 1))};
}

Task<Result<ResolvedResource>> ResourceResolver::resolve(std::string api_version, std::string kind) {
  auto version = parse_group_version(api_version);
  if (!version.ok()) co_return std::move(version.status());
  HttpCall call;
  call.method = "GET";
  call.target = (version->group.empty() ? "/api/" : "/apis/") + api_version;
  auto asking = api_.request(std::move(call));
  auto list = co_await std::move(asking);
  if (!list.ok()) co_return std::move(list.status());
  const Object* found = find_resource(*list, kind);
  if (found == nullptr) co_return Status(Reason::kNotFound, "no matches for kind " + quoted(kind) + " in version " + quoted(api_version));
  co_return ResolvedResource{{version->group, version->version, std::string(get_string(*found, "name"))},
                             get_bool(*found, "namespaced").value_or(false)};
}

}  // namespace backplane::kit
