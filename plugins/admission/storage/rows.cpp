#include "storage/rows.hpp"

namespace backplane::admission {

std::span<const PluginRow> storage_plugins() { return {}; }

}  // namespace backplane::admission
