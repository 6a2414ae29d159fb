// `backplane plugin new|build|run|test`: makes a plugin from templates, builds it, and serves it with a server that reloads it when its
// sources change.
//
// build and run call cmake with the SDK of the installation that this executable belongs to.
// Thread-safety: the main thread.
// Errors:        the exit code: 0 done, 1 it could not be done, or the exit code of cmake.
#pragma once

#include <memory>

#include "plugin/plugin_cli.hpp"

namespace backplane {

std::unique_ptr<PluginCommands> make_author_commands();

}  // namespace backplane
