// Empties namespaces that are being deleted, then lets them go: what kube-controller-manager's namespace controller does, for servers
// that run without one (--enable-namespace-controller).
//
// Thread-safety: run() is one task on one executor.
// Lifetime:      ends when the stop signal fires.
// Errors:        a namespace that cannot be emptied yet is tried again; each try is logged at debug.
#pragma once

#include <memory>

#include "backplane/host.hpp"

namespace backplane::core {

Task<void> run_namespace_controller(std::shared_ptr<StandardStorage> namespaces, LoopbackClient& client, Signal& stop, Logger& logger);

}  // namespace backplane::core
