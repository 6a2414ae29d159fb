#include "network/rows.hpp"

namespace backplane::admission {

std::span<const PluginRow> network_plugins() { return {}; }

}  // namespace backplane::admission
