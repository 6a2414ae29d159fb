// The admission plugins of services and ingresses.
#pragma once

#include "common/services.hpp"

namespace backplane::admission {

std::span<const PluginRow> network_plugins();

}  // namespace backplane::admission
