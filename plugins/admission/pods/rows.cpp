#include "pods/rows.hpp"

namespace backplane::admission {

std::span<const PluginRow> pod_plugins() { return {}; }

}  // namespace backplane::admission
