// The admission plugins of any object: AlwaysAdmit, AlwaysDeny.
#pragma once

#include "common/services.hpp"

namespace backplane::admission {

std::span<const PluginRow> object_plugins();

}  // namespace backplane::admission
