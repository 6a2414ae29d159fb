// The admission plugins of pods: tolerations, classes, limits.
#pragma once

#include "common/services.hpp"

namespace backplane::admission {

std::span<const PluginRow> pod_plugins();

}  // namespace backplane::admission
