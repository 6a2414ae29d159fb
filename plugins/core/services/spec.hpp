// Facts about a service's spec that allocation, rules and tables ask for.
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
bool needs_node_ports(const Object& spec);  // NodePort; LoadBalancer unless told not to
bool needs_health_check_port(const Object& spec);
bool may_have_node_ports(const Object& spec);  // NodePort, LoadBalancer
std::vector<std::string> cluster_ips(const Object& spec);
// One more text at the end of a list.
void add_text(Object& spec, std::string_view key, std::string_view text);
// The node ports of a service's ports, each once; and with its health check's.
std::vector<std::int64_t> service_node_ports(const Object& spec);
std::vector<std::int64_t> node_ports_of(const Object& spec);

// What an update that says nothing of them keeps: addresses and ports.
void keep_allocated(Object& spec, const Object& before);
// clusterIP and clusterIPs[0] are two names of one field: the one that the client changed wins.
void normalize_cluster_ips(Object& spec, const Object* before);
// Removes what the type that was left behind needed and the new one must not have.
void drop_left_behind(Object& spec, const Object& before);

// ipFamilyPolicy, ipFamilies and clusterIPs; asked before addresses are given, and again with the rest.
void validate_cluster_ips(const Object& spec, FieldErrors& errors);
void validate_service_spec(const Object& spec, FieldErrors& errors);
// What stood in an annotation before there was a field for it; `old`: null for a new service.
void validate_source_ranges(const Object& service, const Object* old, FieldErrors& errors);
void validate_service_change(const Object& spec, const Object& before, FieldErrors& errors);
// Two ports with one protocol and one node port, as "{TCP 30443}"; empty: there are none.
std::string repeated_node_port(const Object& spec);

}  // namespace backplane::core
