#include "nodes/rows.hpp"

namespace backplane::admission {

std::span<const PluginRow> node_plugins() { return {}; }

}  // namespace backplane::admission
