// The paths through which plugins are seen and changed.
//
//   GET  /plugins, /debug/plugins   {"plugins": […]}: every plugin that was found, running or not
//   POST /plugins/ACTION            {"name", "file", "dryRun"}; ACTION: reload, upgrade, rollback, disable, enable
//
// Authorization: as for every non-resource path, and never for anonymous users.  With RBAC only system:masters may, unless a role names the
// path: {"nonResourceURLs": ["/plugins/reload"], "verbs": ["post"]}.
// Thread-safety: any number of requests at once; changes run one after another, on PluginPaths::changes.
// Lifetime:      handlers are shared with the route table; the server outlives them.
#pragma once

#include <functional>
#include <vector>

#include "app/plugin_actions.hpp"
#include "backplane/points/http.hpp"
#include "backplane/points/paths.hpp"

namespace backplane {

struct PluginPaths {
  std::function<Array()> statuses;
  std::function<Result<PluginActed>(const PluginRequest&)> act;  // blocks
  Executor& changes;
};
std::vector<PathRoute> plugin_routes(PluginPaths paths);

}  // namespace backplane
