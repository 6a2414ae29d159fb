// Where a service of the cluster is to be reached from here: for proxies to aggregated API servers and for webhooks that name a service.
//
// Services and their endpoints are known from informers of this process, which run from the first question on; no question waits for
// anything but their first sync.
// Thread-safety: any executor.
// Lifetime:      shared; the host outlives it, and its informers end with the host's stop signal.
// Errors:        upstream's: kNotFound `services "x" not found`, kServiceUnavailable (no such port, no endpoints), kInternalError
//                (`unsupported service type "…"`, `cannot route to service with ClusterIP "None"`); kServiceUnavailable while the server
//                stops.
#pragma once

#include <memory>
#include <string>

#include "backplane/core/status.hpp"
#include "backplane/core/task.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

class Host;

// The name that a service's certificate must have, whatever address it is reached at: "name.namespace.svc".
std::string service_server_name(std::string_view ns, std::string_view name);

class ServiceResolver {
 public:
  virtual ~ServiceResolver();
  // "host:port", an IPv6 address in brackets: what stands behind "https://".
  virtual Task<Result<std::string>> resolve(std::string ns, std::string name, int port) = 0;
};

// kubernetes.default:443 is this server itself.  Any other service is its cluster IP or external name; with --enable-aggregator-routing it
// is one of its ready endpoints, another each time, those of its first IP family before others.
std::shared_ptr<ServiceResolver> make_service_resolver(Host& host);

}  // namespace BACKPLANE_API
