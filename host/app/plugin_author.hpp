// `backplane plugin new|build|run|test`: from nothing to a plugin that a throw-away server serves, rebuilt and reloaded when its sources
// change.
//
// build and run call cmake with the SDK of the installation that this executable belongs to.
// Thread-safety: the main thread.
// Errors:        the exit code: 0 done, 1 it could not be done; that of cmake.
#pragma once

#include <memory>

#include "plugin/plugin_cli.hpp"

namespace backplane {

std::unique_ptr<PluginCommands> make_author_commands();

}  // namespace backplane
