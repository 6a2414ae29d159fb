// The admission plugins of service accounts.
#pragma once

#include "common/services.hpp"

namespace backplane::admission {

std::span<const PluginRow> account_plugins();

}  // namespace backplane::admission
