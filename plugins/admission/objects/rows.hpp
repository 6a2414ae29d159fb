// The admission plugins of objects other than pods, and of any object: AlwaysAdmit, AlwaysDeny, namespaces, owners, events, jobs, pod
// groups.
#pragma once

#include "common/services.hpp"

namespace backplane::admission {

std::span<const PluginRow> object_plugins();

}  // namespace backplane::admission
