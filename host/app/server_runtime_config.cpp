// --runtime-config compared with what the plugins offer.
#include <algorithm>
#include <array>

#include "app/log.hpp"
#include "app/server_parts.hpp"

namespace backplane {
namespace {

// Required if loaded: a group version without an APIService is not served.
const std::array<GroupVersionResource, 1> kNeeded = {{{"apiregistration.k8s.io", "v1", "apiservices"}}};

bool some_left_out(const PluginRegistry& plugins) {
  const auto all = plugins.statuses();
  return std::any_of(all.begin(), all.end(), [](const PluginStatus& each) { return !each.runs() && !each.in_tree; });
}

// True for a group that only a third-party plugin can have.
bool is_foreign(std::string_view group) { return group.find('.') != std::string_view::npos && !group.ends_with(".k8s.io"); }

// The listed versions that may belong to a plugin that does not run: they cause no error, and the group stays hidden. If no plugin is left
// out, a version that --runtime-config enables must exist, and one that it disables need not.
std::vector<GroupVersion> of_absent_plugins(const std::vector<std::string>& items, const std::vector<GroupVersion>& known, bool left_out) {
  std::vector<GroupVersion> out;
  for (const std::string& item : items) {
    const auto sign = item.find('=');
    const std::string_view key = std::string_view(item).substr(0, sign);
    const auto slash = key.find('/');
    if (slash == std::string_view::npos) continue;
    const std::string group(key.substr(0, slash));
    const bool offered = std::any_of(known.begin(), known.end(), [&](const GroupVersion& each) { return each.group == group; });
    const bool hides = sign != std::string::npos && item.substr(sign + 1) == "false";
    if (!offered && is_foreign(group) && (hides || left_out))
      out.push_back({group, std::string(key.substr(slash + 1, key.find('/', slash + 1) - slash - 1))});
  }
  return out;
}

}  // namespace

void ServerParts::check_runtime_config(Problems& problems) const {
  std::vector<GroupVersion> versions;
  // Resources that feature gates disable have types and no storages.
  const auto rows = plugins->rows();
  for (const GroupVersionKind& kind : rows->scheme->known_types()) versions.push_back(kind.group_version());
  std::vector<GroupVersionResource> resources;
  versions.push_back({std::string(kPluginsGroup), std::string(kPluginsVersion)});
  resources.push_back({std::string(kPluginsGroup), std::string(kPluginsVersion), "plugins"});
  for (const auto& delegate : rows->delegates) {
    for (const auto& group : delegate->groups) {
      for (const auto& version : group.prioritized_versions) versions.push_back({group.group, version});
      for (const auto& [version, storages] : group.storages) {
        for (const auto& [path, _] : storages) {
          if (path.find('/') == std::string::npos) resources.push_back({group.group, version, path});
        }
      }
    }
  }
  for (GroupVersion& version : of_absent_plugins(options().api_enablement.runtime_config, versions, some_left_out(*plugins))) {
    app_log().warn("--runtime-config names {}, which no running plugin offers", version.to_string());
    versions.push_back(std::move(version));
  }
  Status known = config.enablement().check(versions, resources);
  if (!known.ok()) problems.push_back(known.message());
  for (const GroupVersionResource& needed : kNeeded) {
    const bool offered = std::find(resources.begin(), resources.end(), needed) != resources.end();
    if (offered && !config.enablement().resource_enabled(needed)) {
      problems.push_back("--runtime-config: " + needed.group + "/" + needed.version +
                         " must not be disabled, because no API is served without it; add " + needed.group + "/" + needed.version +
                         "=true");
    }
  }
}

}  // namespace backplane
