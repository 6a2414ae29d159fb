// --service-cluster-ip-range and the flags of the kubernetes service: validation, and the service's address in the range.
//
// Thread-safety: pure functions.
// Errors:        problems with upstream's messages (cmd/kube-apiserver/app/options).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "app/options.hpp"

namespace backplane {

// Adds a problem for a value that is not a CIDR, for more than two ranges, for two ranges of one family, for a range of fewer than eight
// addresses, and for an IPv6 prefix shorter than 64. An empty value is valid.
void validate_service_ranges(std::string_view value, Problems& problems);

// The flags of the kubernetes service, as text.
struct KubernetesServiceFlags {
  std::string cluster_ip_range;
  std::string node_port;
  std::string node_port_range;  // "first-last"
  std::string reconciler_type;
  std::string advertise_address;
};
// Adds a problem for a node port that is not a port or outside the range, for a range that begins below 1, for an unknown reconciler, and
// for endpoints of another family than the service.
void validate_kubernetes_service(const KubernetesServiceFlags& flags, Problems& problems);

// The address of the kubernetes service in the first range, for clients in that range: ("10.0.0.0/24", "10.0.0.1:443"); nothing for others.
std::optional<std::pair<std::string, std::string>> service_address_for(std::string_view value, const std::string& client_ip);

// --service-cluster-ip-range, or its default.
std::string service_range(const Options& options);

// "host:port" of a host that may have a port already; an IPv6 address gets brackets.
std::string with_port(const std::string& host, int port);

// The first address of the first range, which the kubernetes service gets; empty when there is no valid one.
std::string first_service_address(std::string_view value);

}  // namespace backplane
