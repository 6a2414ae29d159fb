#include "webhooks/rows.hpp"

namespace backplane::admission {

std::span<const PluginRow> webhook_plugins() { return {}; }

}  // namespace backplane::admission
