// Properties of a service's spec for allocation, validation and tables.
//
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"

namespace backplane::core {

inline constexpr std::string_view kHeadless = "None";

bool is_headless(const Object& spec);
bool needs_cluster_ip(const Object& spec);  // ClusterIP, NodePort, LoadBalancer
bool needs_node_ports(const Object& spec);  // NodePort; LoadBalancer unless allocateLoadBalancerNodePorts is false
bool needs_health_check_port(const Object& spec);
bool may_have_node_ports(const Object& spec);  // NodePort, LoadBalancer
std::vector<std::string> cluster_ips(const Object& spec);
// Appends a text to the list `key`.
void add_text(Object& spec, std::string_view key, std::string_view text);
// service_node_ports() returns the node ports of the service's ports, each once. node_ports_of() also returns the node port of the health
// check.
std::vector<std::int64_t> service_node_ports(const Object& spec);
std::vector<std::int64_t> node_ports_of(const Object& spec);

// Copies the old addresses and ports to an update that omits them.
void keep_allocated(Object& spec, const Object& before);
// clusterIP and clusterIPs[0] are two members for one value: the one that the client changed wins.
void normalize_cluster_ips(Object& spec, const Object* before);
// Removes fields of the old type that the new type must not have.
void drop_fields_of_former_type(Object& spec, const Object& before);

// Validates ipFamilyPolicy, ipFamilies and clusterIPs; called before addresses are allocated, and again with the rest.
void validate_cluster_ips(const Object& spec, FieldErrors& errors);
void validate_service_spec(const Object& spec, FieldErrors& errors);
// Validates a field that was an annotation before; `old`: null for a new service.
void validate_source_ranges(const Object& service, const Object* old, FieldErrors& errors);
void validate_service_change(const Object& spec, const Object& before, FieldErrors& errors);
// If two ports have the same protocol and the same node port, returns these as "{TCP 30443}"; otherwise empty.
std::string repeated_node_port(const Object& spec);

}  // namespace backplane::core
