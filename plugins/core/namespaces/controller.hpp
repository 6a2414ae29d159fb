// Empties namespaces that are being deleted, then removes their finalizer `kubernetes`: the work of kube-controller-manager's namespace
// controller, done here while no kube-controller-manager works (--enable-namespace-controller, controller_election.hpp).
//
// Pods are deleted first; the other objects follow when no pod is left.  Several workers take namespaces from a queue, one namespace each,
// so that a namespace that cannot be emptied delays no other one.
// Thread-safety: everything runs on the host's executor.
// Lifetime:      ends when the stop signal fires; the host waits for the tasks.
// Errors:        a namespace that cannot be emptied yet is tried again, later each time; its conditions report why.
#pragma once

#include <memory>

#include "backplane/host.hpp"
#include "namespaces/controller_election.hpp"

namespace backplane::core {

void start_namespace_controller(Host& host, std::shared_ptr<StandardStorage> namespaces, std::shared_ptr<ControllerElection> election,
                                PostStartHookContext context);

}  // namespace backplane::core
