// The admission plugins of certificate requests and trust bundles.
#pragma once

#include "common/services.hpp"

namespace backplane::admission {

std::span<const PluginRow> certificate_plugins();

}  // namespace backplane::admission
