// `backplane plugin list|reload|upgrade|rollback|disable|enable|forget --kubeconfig FILE`: the plugins of a running server, through its
// API.
//
// Thread-safety: the main thread.
// Errors:        the exit code: 0 done, 1 the server has refused or cannot be reached.
#pragma once

#include <memory>

#include "plugin/plugin_cli.hpp"

namespace backplane {

std::unique_ptr<PluginCommands> make_plugin_commands();

}  // namespace backplane
