// Resolves a Service to an address that this server can connect to, for aggregated API servers and for webhooks that name a service.
//
// Reads Services and their EndpointSlices with informers of this process. The first call starts the informers and waits until they have
// synced.
//
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

// Returns the name in the certificate of a service, regardless of its address: "name.namespace.svc".
std::string service_server_name(std::string_view ns, std::string_view name);

// Resolves Services to addresses.
//
//   auto address = co_await resolver->resolve("shop", "webhook", 443);
//   if (address.ok()) config.server = "https://" + *address;
class ServiceResolver {
 public:
  virtual ~ServiceResolver();
  // Returns "host:port" for a URL "https://" + result. An IPv6 address is in brackets.
  virtual Task<Result<std::string>> resolve(std::string ns, std::string name, int port) = 0;
};

// kubernetes.default:443 resolves to this server. Other services resolve to the cluster IP or the external name. With
// --enable-aggregator-routing they resolve to a ready endpoint, a different one for each call; it belongs to the first IP family of the
// service if possible.
std::shared_ptr<ServiceResolver> make_service_resolver(Host& host);

}  // namespace BACKPLANE_API
