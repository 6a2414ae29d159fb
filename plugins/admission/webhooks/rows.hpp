// The admission plugins of webhooks.
#pragma once

#include "common/services.hpp"

namespace backplane::admission {

std::span<const PluginRow> webhook_plugins();

}  // namespace backplane::admission
