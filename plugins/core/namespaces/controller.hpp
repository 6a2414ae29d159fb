// Empties namespaces that are being deleted, then lets them go: what kube-controller-manager's namespace controller does, for servers
// that run without one (--enable-namespace-controller).
//
// Several workers take namespaces from a queue, one namespace each, so that one that cannot be emptied holds up nobody.
// Thread-safety: everything runs on the host's executor.
// Lifetime:      ends when the stop signal fires; the host waits for the tasks.
// Errors:        a namespace that cannot be emptied yet is tried again, later each time; each try is logged at debug.
#pragma once

#include <memory>

#include "backplane/host.hpp"

namespace backplane::core {

void start_namespace_controller(Host& host, std::shared_ptr<StandardStorage> namespaces, PostStartHookContext context);

}  // namespace backplane::core
