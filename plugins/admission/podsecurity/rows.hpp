// The admission plugins of the pod security standards.
#pragma once

#include "common/services.hpp"

namespace backplane::admission {

std::span<const PluginRow> pod_security_plugins();

}  // namespace backplane::admission
