// The admission plugins of resource quotas.
#pragma once

#include "common/services.hpp"

namespace backplane::admission {

std::span<const PluginRow> quota_plugins();

}  // namespace backplane::admission
