// The changes of plugins that an operator asks for: by `backplane plugin reload …`, through /plugins, or by a file that changes.
//
//   reload    loads the plugin's file again, or another file; the new build replaces the build that runs
//   upgrade   as reload, with a file that must be named
//   rollback  the former build replaces the build that runs
//   disable   withdraws the plugin with all that it has registered; with `cascade`, also the plugins that require it
//   enable    adds a plugin that does not run
//   forget    stops serving the groups of a plugin that does not run
//
// reload, upgrade and rollback also replace the plugins that depend on the plugin, by new generations of the same builds.
//
// Thread-safety: values and functions of their arguments.
// Errors:        ServerParts::act():
//                kNotFound:   there is no such plugin.
//                kConflict:   the plugin cannot be changed while the server runs.
//                kBadRequest: the findings of a file.
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
  std::string file;      // empty: the plugin's file
  bool dry_run = false;  // verified, planned and staged, but not put in place
  bool force = false;    // forget: also if objects of the groups are stored
  bool cascade = false;  // disable: together with the plugins that require it
};

// The result of a change.
struct PluginActed {
  std::string message;  // one line
  std::string name, version, former_version, file;
  std::string replaced_too, withdrawn_too;  // names of dependants: "a, b"
};
Object acted_to_json(const PluginActed& acted);

Result<PluginRequest> request_of(PluginAction action, const Object& body);

}  // namespace backplane
