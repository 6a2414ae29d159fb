// Plugins of the stable tier (backplane/stable/*.h) as plugins of the SDK.
//
// Thread-safety: as backplane::Plugin.
// Lifetime:      the code of the entry point stays mapped as long as the plugin lives.
// Errors:        those of the entry point; kInternalError for a table without a required function.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "backplane/plugin.hpp"
#include "backplane/stable/base.h"

namespace backplane::stable {

using Entry = const bp_plugin* (*)(bp_error*);

// Calls the entry point. `name`: the name of the plugin.
Result<std::unique_ptr<Plugin>> make_plugin(Entry entry, std::string name);
// The same for the table of a plugin in another process; its functions block until the process answers. `process`: returns an error if the
// process does not answer calls.
std::unique_ptr<Plugin> make_plugin(const bp_plugin& table, std::string name, std::function<Status()> process);

}  // namespace backplane::stable
