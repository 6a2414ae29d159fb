// The admission plugins of storage classes, volumes and claims.
#pragma once

#include "common/services.hpp"

namespace backplane::admission {

std::span<const PluginRow> storage_plugins();

}  // namespace backplane::admission
