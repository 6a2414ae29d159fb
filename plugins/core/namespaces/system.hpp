// What a new server has from the start: the system namespaces and the service `kubernetes`.
//
// Thread-safety: the hooks run on an executor of the host.
// Errors:        what cannot be made is logged and tried again: an object of somebody's that stands in the way must not keep the server
// from
//                starting, or nobody could remove it.
#pragma once

#include <string>

#include "backplane/hooks.hpp"
#include "backplane/logger.hpp"

namespace backplane::core {

struct KubernetesService {
  std::string cluster_ip;  // the first address of the service range
  int target_port = 6443;  // where the server listens
};

// Make them, once; the Status says what could not be made.
Task<Status> make_system_namespaces(LoopbackClient& client);
Task<Status> make_kubernetes_service(LoopbackClient& client, KubernetesService service);

// Makes again what somebody has removed, until `stop` fires.
Task<void> keep_system_namespaces(LoopbackClient& client, Signal& stop, Logger& logger);
Task<void> keep_kubernetes_service(LoopbackClient& client, KubernetesService service, Signal& stop, Logger& logger);

}  // namespace backplane::core
