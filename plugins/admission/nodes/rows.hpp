// The admission plugins of nodes, and of objects that kubelets write.
#pragma once

#include "common/services.hpp"

namespace backplane::admission {

std::span<const PluginRow> node_plugins();

}  // namespace backplane::admission
