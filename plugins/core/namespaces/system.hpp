// What a new server has from the start: the system namespaces and the service `kubernetes`.
//
// Thread-safety: the hooks run on an executor of the host.
// Errors:        a namespace that cannot be made ends the start; the hook's Status says which and why.
#pragma once

#include <string>

#include "backplane/hooks.hpp"

namespace backplane::core {

struct KubernetesService {
  std::string cluster_ip;  // the first address of the service range
  int target_port = 6443;  // where the server listens
};

Task<Status> make_system_namespaces(PostStartHookContext context);
Task<Status> make_kubernetes_service(PostStartHookContext context, KubernetesService service);

}  // namespace backplane::core
