#include "podsecurity/rows.hpp"

namespace backplane::admission {

std::span<const PluginRow> pod_security_plugins() { return {}; }

}  // namespace backplane::admission
