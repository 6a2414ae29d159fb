#include "plugin/registration_checks.hpp"

#include <algorithm>

#include "backplane/rest/roles.hpp"
#include "routing/reserved_paths.hpp"

namespace backplane {

namespace {

using Storages = std::map<std::string, std::shared_ptr<RestStorage>>;

// Checks the assumptions of routing about a storage and its path, as upstream's installer does.
Status check_storage(const Storages& storages, const std::string& path, const std::string& where) {
  const auto& storage = storages.at(path);
  if (!storage) return bad_request(where + " has no storage for " + path);
  if (std::any_of(path.begin(), path.end(), [](char c) { return c >= 'A' && c <= 'Z'; })) {
    return bad_request(where + ": resource names must be lowercase only, not " + backplane::quoted(path));
  }
  const auto slash = path.find('/');
  const bool top_level = slash == std::string::npos;
  if (path.empty() || slash == 0 || path.back() == '/' || (!top_level && path.find('/', slash + 1) != std::string::npos)) {
    return bad_request(where + ": only one or two segment paths are allowed (resource or resource/subresource), not " +
                       backplane::quoted(path));
  }
  if (!top_level && !storages.contains(path.substr(0, slash))) {
    return bad_request(where + ": missing parent storage: " + backplane::quoted(path.substr(0, slash)) + " of " + backplane::quoted(path));
  }
  if (top_level && role_of<Scoper>(storage) == nullptr) {
    return bad_request(where + ": " + backplane::quoted(path) + " must implement Scoper: is it namespaced?");
  }
  return {};
}

}  // namespace

Status too_late(const std::string& kind) {
  return service_unavailable("registration is over: a " + kind + " is registered in provision()");
}

Status check_path(const PathRoute& route) {
  if (!route.handler || !route.path.starts_with('/')) {
    return bad_request("the path " + backplane::quoted(route.path) + " needs a leading slash and a handler");
  }
  return check_not_reserved(route.path);
}

Status no_object(const char* kind) { return bad_request(std::string("a null ") + kind + " cannot be registered"); }

Status check_group(const APIGroupInfo& info) {
  const auto& versions = info.prioritized_versions;
  if (versions.empty()) return bad_request("API group \"" + info.group + "\" has no versions");
  const auto name_of = [&info](const std::string& version) { return "API group version " + GroupVersion{info.group, version}.to_string(); };
  for (const auto& version : versions) {
    const auto storages = info.storages.find(version);
    if (storages == info.storages.end() || storages->second.empty()) return bad_request(name_of(version) + " has no storages");
  }
  for (const auto& [version, storages] : info.storages) {
    if (std::find(versions.begin(), versions.end(), version) == versions.end()) {
      return bad_request(name_of(version) + " has storages and is not in prioritized_versions" +
                         (storages.empty() ? "" : ": " + backplane::quoted(storages.begin()->first)));
    }
    for (const auto& [path, _] : storages) {
      auto status = check_storage(storages, path, name_of(version));
      if (!status.ok()) return status;
    }
  }
  return {};
}

Status check_published(const PublishedResource& resource) {
  if (resource.versions.empty()) {
    return bad_request("the published resource " + GroupResource{resource.group, resource.resource}.to_string() + " has no versions");
  }
  for (const auto& version : resource.versions) {
    const std::string where = "API group version " + GroupVersion{resource.group, version.version}.to_string();
    if (!version.storages.contains(resource.resource)) return bad_request(where + " has no storage for " + resource.resource);
    for (const auto& [path, _] : version.storages) {
      if (path.substr(0, path.find('/')) != resource.resource)
        return bad_request(where + ": " + backplane::quoted(path) + " is no path of " + backplane::quoted(resource.resource));
      Status status = check_storage(version.storages, path, where);
      if (!status.ok()) return status;
    }
  }
  return {};
}

Status check_forwarded(const ForwardedVersion& version) {
  if (version.group_version.group.empty() || version.group_version.version.empty())
    return bad_request("a group version that is forwarded needs a group and a version");
  if (!version.handler) return bad_request("API group version " + version.group_version.to_string() + " has no handler");
  return {};
}

}  // namespace backplane
