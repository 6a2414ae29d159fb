// The plugins that are shipped with the server: those of this source tree, in the default directory of --plugin-dir.
//
// Thread-safety: any thread.
#pragma once

#include <string_view>
#include <vector>

namespace backplane {

// The names of these plugins, sorted.
const std::vector<std::string_view>& in_tree_plugins();
bool is_in_tree(std::string_view plugin, std::string_view file);

}  // namespace backplane
