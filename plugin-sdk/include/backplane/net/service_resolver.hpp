// Resolves a Service to an address that this server can connect to, for aggregated API servers and for webhooks that name a service.
//
// Services and their EndpointSlices come from informers of this process, which start with the first call; only that call waits for their
// sync.
// Thread-safety: any executor.
// Lifetime:      shared; the host must outlive it. The informers end with the host's stop signal.
// Errors:        upstream's: kNotFound `services "x" not found`, kServiceUnavailable (no such port, no endpoints), kInternalError
//                (`unsupported service type "…"`, `cannot route to service with ClusterIP "None"`); kServiceUnavailable during shutdown.
#pragma once

#include <memory>
#include <string>

#include "backplane/core/status.hpp"
#include "backplane/core/task.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

class Host;

// The name in the certificate of a service, regardless of the address: "name.namespace.svc".
std::string service_server_name(std::string_view ns, std::string_view name);

//
//   auto address = co_await resolver->resolve("shop", "webhook", 443);
//   if (address.ok()) config.server = "https://" + *address;
class ServiceResolver {
 public:
  virtual ~ServiceResolver();
  // "host:port", IPv6 addresses in brackets, for a URL "https://" + result.
  virtual Task<Result<std::string>> resolve(std::string ns, std::string name, int port) = 0;
};

// kubernetes.default:443 is this server. For other services: the cluster IP or external name; with --enable-aggregator-routing a ready
// endpoint, another one each time, of the service's first IP family if possible.
std::shared_ptr<ServiceResolver> make_service_resolver(Host& host);

}  // namespace BACKPLANE_API
