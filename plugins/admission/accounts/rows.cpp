#include "accounts/rows.hpp"

namespace backplane::admission {

std::span<const PluginRow> account_plugins() { return {}; }

}  // namespace backplane::admission
