// Facts about a service's spec that allocation, rules and tables ask for.
//
// Thread-safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/json.hpp"
#include "backplane/status.hpp"

namespace backplane::core {

inline constexpr std::string_view kHeadless = "None";

bool is_headless(const Object& spec);
bool needs_cluster_ip(const Object& spec);  // ClusterIP, NodePort, LoadBalancer
bool needs_node_ports(const Object& spec);  // NodePort; LoadBalancer unless told not to
bool needs_health_check_port(const Object& spec);
std::vector<std::string> cluster_ips(const Object& spec);

// Defaults of pkg/apis/core/v1 for services.
void apply_service_defaults(Object& service);
// Address families and their policy, when the client has not said.
void apply_family_defaults(Object& spec);
// What an update that says nothing of them keeps: addresses, ports, families.
void keep_allocated(Object& spec, const Object& before);
// clusterIP and clusterIPs[0] are two names of one field: the one that the client changed wins.
void normalize_cluster_ips(Object& spec, const Object* before);
// Removes what the type that was left behind needed and the new one must not have.
void drop_left_behind(Object& spec, const Object& before);

void validate_service_spec(const Object& spec, FieldErrors& errors);
void validate_service_change(const Object& spec, const Object& before, FieldErrors& errors);
std::vector<std::string> service_warnings(const Object& service);
// Two ports with one protocol and one node port, as "{TCP 30443}"; empty: there are none.
std::string repeated_node_port(const Object& spec);

}  // namespace backplane::core
