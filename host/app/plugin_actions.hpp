// The changes of plugins that an operator asks for: by `backplane plugin reload …`, through /plugins, or by a file that changes.
//
//   reload    the plugin's file again, or another file: the new build takes the place of the one that runs
//   upgrade   the same with a file that must be named
//   rollback  the build that ran before
//   disable   the plugin is withdrawn with all that it has registered; with `cascade`, the plugins that require it are, too
//   enable    a plugin that does not run is added
//   forget    the groups of a plugin that does not run are not served any more
//
// reload, upgrade and rollback also replace the plugins that depend on the plugin, by new generations of the builds that run.
//
// Thread-safety: values and functions of their arguments.
// Errors:        act(): kNotFound, kConflict for what cannot be changed while the server runs, kBadRequest with the findings of a file.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"

namespace backplane {

enum class PluginAction : unsigned char { kReload, kUpgrade, kRollback, kDisable, kEnable, kForget };
std::string_view action_name(PluginAction action) noexcept;
std::optional<PluginAction> action_of(std::string_view name) noexcept;

struct PluginRequest {
  PluginAction action = PluginAction::kReload;
  std::string name;
  std::string file;      // empty: that of the plugin
  bool dry_run = false;  // verified, planned and staged, but not put in place
  bool force = false;    // forget: although objects are left
  bool cascade = false;  // disable: together with the plugins that require it
};

// What has happened.
struct PluginActed {
  std::string message;  // one line
  std::string name, version, former_version, file;
  std::string replaced_too, withdrawn_too;  // names of dependants: "a, b"
};
Object acted_to_json(const PluginActed& acted);

Result<PluginRequest> request_of(PluginAction action, const Object& body);

}  // namespace backplane
