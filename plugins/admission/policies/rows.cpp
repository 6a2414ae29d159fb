#include "policies/rows.hpp"

namespace backplane::admission {

std::span<const PluginRow> policy_plugins() { return {}; }

}  // namespace backplane::admission
