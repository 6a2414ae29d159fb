#include "quota/rows.hpp"

namespace backplane::admission {

std::span<const PluginRow> quota_plugins() { return {}; }

}  // namespace backplane::admission
