// Empties namespaces that are being deleted, then removes their finalizer `kubernetes`, like kube-controller-manager's namespace
// controller. It runs only while no kube-controller-manager is active (--enable-namespace-controller, controller_election.hpp).
//
// Pods are deleted first; the other objects follow when no pod is left. Several workers process namespaces from a queue, one namespace
// each, so that a namespace that cannot be emptied does not delay the others.
// Thread-safety: everything runs on the host's executor.
// Lifetime:      ends when the stop signal fires; the host waits for the tasks.
// Errors:        a namespace that cannot be emptied yet is retried with growing pauses; its conditions report the reason.
#pragma once

#include <memory>

#include "backplane/host.hpp"
#include "namespaces/controller_election.hpp"

namespace backplane::core {

void start_namespace_controller(Host& host, std::shared_ptr<StandardStorage> namespaces, std::shared_ptr<ControllerElection> election,
                                PostStartHookContext context);

}  // namespace backplane::core
