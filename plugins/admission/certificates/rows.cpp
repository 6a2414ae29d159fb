#include "certificates/rows.hpp"

namespace backplane::admission {

std::span<const PluginRow> certificate_plugins() { return {}; }

}  // namespace backplane::admission
