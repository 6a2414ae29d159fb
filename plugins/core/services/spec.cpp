#include "services/spec.hpp"

#include <algorithm>
#include <set>

#include "backplane/core/json_access.hpp"

namespace backplane::core {

namespace {

std::string_view type_of(const Object& spec) { return get_string(spec, "type"); }

bool is_external(const Object& spec) {
  return may_have_node_ports(spec) || (type_of(spec) == "ClusterIP" && count_of(spec, "externalIPs") > 0);
}

void set_cluster_ips(Object& spec, std::vector<std::string> ips) {
  if (ips.empty()) {
    erase_member(spec, "clusterIPs");
    return;
  }
  Array& list = spec["clusterIPs"].emplace_array();
  for (std::string& ip : ips) list.emplace_back(std::move(ip));
}

}  // namespace

bool is_headless(const Object& spec) {
  const auto ips = cluster_ips(spec);
  return (ips.size() == 1 && ips[0] == kHeadless) || get_string(spec, "clusterIP") == kHeadless;
}
bool needs_cluster_ip(const Object& spec) { return type_of(spec) == "ClusterIP" || may_have_node_ports(spec); }
bool needs_node_ports(const Object& spec) {
  return type_of(spec) == "NodePort" || (type_of(spec) == "LoadBalancer" && get_bool(spec, "allocateLoadBalancerNodePorts").value_or(true));
}
bool needs_health_check_port(const Object& spec) {
  return type_of(spec) == "LoadBalancer" && get_string(spec, "externalTrafficPolicy") == "Local";
}
bool may_have_node_ports(const Object& spec) { return type_of(spec) == "NodePort" || type_of(spec) == "LoadBalancer"; }
void add_text(Object& spec, std::string_view key, std::string_view text) { ensure_array(spec, key).emplace_back(text); }
std::vector<std::string> cluster_ips(const Object& spec) { return texts_of(spec, "clusterIPs"); }

std::vector<std::int64_t> service_node_ports(const Object& spec) {
  std::vector<std::int64_t> out;
  if (!may_have_node_ports(spec)) return out;
  each(spec, "ports", [&](const Object& port, std::size_t) {
    const std::int64_t node = get_int(port, "nodePort").value_or(0);
    if (node != 0 && std::find(out.begin(), out.end(), node) == out.end()) out.push_back(node);
  });
  return out;
}
std::vector<std::int64_t> node_ports_of(const Object& spec) {
  std::vector<std::int64_t> out = service_node_ports(spec);
  const std::int64_t health = needs_health_check_port(spec) ? get_int(spec, "healthCheckNodePort").value_or(0) : 0;
  if (health != 0) out.push_back(health);
  return out;
}

std::string repeated_node_port(const Object& spec) {
  std::set<std::string> seen;
  std::string out;
  each(spec, "ports", [&](const Object& port, std::size_t) {
    const std::int64_t node = get_int(port, "nodePort").value_or(0);
    const std::string text = "{" + std::string(get_string(port, "protocol")) + " " + std::to_string(node) + "}";
    if (node != 0 && !seen.insert(text).second && out.empty()) out = text;
  });
  return out;
}

namespace {

// Ports retain their node ports by name, unless another port has that number now.
void keep_node_ports(Object& spec, const Object& before) {
  const auto now = service_node_ports(spec), old = service_node_ports(before);
  std::vector<std::int64_t> used;
  std::copy_if(old.begin(), old.end(), std::back_inserter(used),
               [&](std::int64_t port) { return std::find(now.begin(), now.end(), port) != now.end(); });
  each_mutable(spec, "ports", [&](Object& port) {
    if (get_int(port, "nodePort").value_or(0) != 0) return;
    const Object* old_port = find_item(before, "ports", "name", get_string(port, "name"));
    const std::int64_t kept = old_port != nullptr ? get_int(*old_port, "nodePort").value_or(0) : 0;
    if (kept == 0 || std::find(used.begin(), used.end(), kept) != used.end()) return;
    port["nodePort"] = kept;
    used.push_back(kept);
  });
}

}  // namespace

void keep_allocated(Object& spec, const Object& before) {
  if (needs_cluster_ip(spec) && needs_cluster_ip(before)) {
    if (get_string(spec, "clusterIP").empty()) take_member(spec, before, "clusterIP");
    if (cluster_ips(spec).empty() && same_member(spec, before, "clusterIP")) take_member(spec, before, "clusterIPs");
  }
  if (needs_node_ports(spec) && needs_node_ports(before)) keep_node_ports(spec, before);
  if (needs_health_check_port(spec) && needs_health_check_port(before) && get_int(spec, "healthCheckNodePort").value_or(0) == 0) {
    take_member(spec, before, "healthCheckNodePort");
  }
}

void normalize_cluster_ips(Object& spec, const Object* before) {
  const std::string ip(get_string(spec, "clusterIP"));
  if (before == nullptr) {
    if (!ip.empty() && cluster_ips(spec).empty()) set_cluster_ips(spec, {ip});
    return;
  }
  const std::string_view old = get_string(*before, "clusterIP");
  if (ip == old || cluster_ips(spec) != cluster_ips(*before)) return;
  set_cluster_ips(spec, ip.empty() ? std::vector<std::string>() : std::vector<std::string>{ip});
}

namespace {

bool is_load_balancer(const Object& spec) { return type_of(spec) == "LoadBalancer"; }

// Members that only some types of services may have. The order matters: `needed` of the first rows reads members that the last rows remove.
struct TypeMember {
  bool (*needed)(const Object& spec);
  std::string_view member;
};
constexpr TypeMember kTypeMembers[] = {
    {needs_cluster_ip, "ipFamilies"},
    {needs_cluster_ip, "ipFamilyPolicy"},
    {needs_health_check_port, "healthCheckNodePort"},
    {is_external, "externalTrafficPolicy"},
    {is_load_balancer, "allocateLoadBalancerNodePorts"},
    {is_load_balancer, "loadBalancerClass"},
};

}  // namespace

// Does not remove a member that the client has changed, so that validation refuses it.
void drop_fields_of_former_type(Object& spec, const Object& before) {
  if (needs_cluster_ip(before) && !needs_cluster_ip(spec) && same_member(spec, before, "clusterIP") &&
      cluster_ips(spec) == cluster_ips(before)) {
    erase_member(spec, "clusterIP");
    erase_member(spec, "clusterIPs");
  }
  if (may_have_node_ports(before) && !may_have_node_ports(spec)) {
    each_mutable(spec, "ports", [&](Object& port) {
      bool same = false;
      each(before, "ports", [&](const Object& old, std::size_t) { same = same || same_member(port, old, "nodePort"); });
      if (same) erase_member(port, "nodePort");
    });
  }
  for (const TypeMember& row : kTypeMembers) {
    if (row.needed(before) && !row.needed(spec) && same_member(spec, before, row.member)) erase_member(spec, row.member);
  }
}

}  // namespace backplane::core
