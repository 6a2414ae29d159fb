// The paths that list and change plugins.
//
//   GET  /plugins, /debug/plugins   {"plugins": […]}: every plugin that was found, running or not
//   POST /plugins/ACTION            {"name", "file", "dryRun", "force", "cascade"}; ACTION: action_name() of a PluginAction
// Authorization: as for every non-resource path. In addition, anonymous users cannot change plugins. With RBAC only system:masters may
// access these paths, unless a role names the path: {"nonResourceURLs": ["/plugins/reload"], "verbs": ["post"]}.
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
