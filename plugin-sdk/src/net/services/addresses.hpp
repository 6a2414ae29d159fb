// Resolves Services and EndpointSlices to addresses: apiserver/pkg/util/proxy.ResolveCluster and ResolveEndpoint.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/object.hpp"
#include "backplane/core/status.hpp"

namespace backplane::services {

// Like Go's net.JoinHostPort.
std::string join_host_port(std::string_view host, long long port);

// Returns the address for any request to the service.
Result<std::string> cluster_address(const Object& service, std::string_view name, int port);

// The addresses of all endpoints. The first `preferred` addresses belong to the service's first IP family. If no address belongs to another
// family, `preferred` is the number of all addresses.
struct Endpoints {
  std::vector<std::string> addresses;
  std::size_t preferred = 0;
};
Result<Endpoints> endpoint_addresses(const Object& service, std::string_view name, int port, const std::vector<Object>& slices);

}  // namespace backplane::services
