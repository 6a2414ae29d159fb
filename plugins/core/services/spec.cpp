#include "services/spec.hpp"

#include <algorithm>

#include "backplane/kit/walk.hpp"

namespace backplane::core {

using namespace kit;

namespace {

constexpr std::int64_t kStickySeconds = 3 * 60 * 60;

bool is_external(const Object& spec) {
  const std::string_view type = get_string(spec, "type");
  const Array* external = get_array(spec, "externalIPs");
  return type == "NodePort" || type == "LoadBalancer" || (type == "ClusterIP" && external != nullptr && !external->empty());
}

void default_affinity(Object& spec) {
  const std::string affinity(get_string(spec, "sessionAffinity"));
  if (affinity == "None") erase_member(spec, "sessionAffinityConfig");
  if (affinity != "ClientIP") return;
  const Value* seconds = find_path(spec, {"sessionAffinityConfig", "clientIP", "timeoutSeconds"});
  if (seconds != nullptr) return;
  ensure_object(ensure_object(spec, "sessionAffinityConfig"), "clientIP")["timeoutSeconds"] = kStickySeconds;
}

void default_port(Object& port) {
  if (!is_unset(find(port, "targetPort"))) return;
  if (const Value* number = find(port, "port")) {
    const Value copy = *number;
    port["targetPort"] = copy;
  }
}

std::string_view family_of(std::string_view ip) { return ip.find(':') == std::string_view::npos ? "IPv4" : "IPv6"; }

bool same_cluster_ips(const Object& a, const Object& b) { return cluster_ips(a) == cluster_ips(b); }

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
bool needs_cluster_ip(const Object& spec) {
  const std::string_view type = get_string(spec, "type");
  return type == "ClusterIP" || type == "NodePort" || type == "LoadBalancer";
}
bool needs_node_ports(const Object& spec) {
  const std::string_view type = get_string(spec, "type");
  return type == "NodePort" || (type == "LoadBalancer" && get_bool(spec, "allocateLoadBalancerNodePorts").value_or(true));
}
bool needs_health_check_port(const Object& spec) {
  return get_string(spec, "type") == "LoadBalancer" && get_string(spec, "externalTrafficPolicy") == "Local";
}
std::vector<std::string> cluster_ips(const Object& spec) {
  std::vector<std::string> out;
  if (const Array* list = get_array(spec, "clusterIPs")) {
    for (const Value& ip : *list) out.emplace_back(text_of(ip));
  }
  return out;
}

std::string repeated_node_port(const Object& spec) {
  std::vector<std::string> seen;
  std::string out;
  each(spec, "ports", [&](const Object& port, std::size_t) {
    const std::int64_t node = get_int(port, "nodePort").value_or(0);
    if (node == 0 || !out.empty()) return;
    std::string text = "{" + std::string(get_string(port, "protocol")) + " " + std::to_string(node) + "}";
    if (std::find(seen.begin(), seen.end(), text) != seen.end()) out = text;
    seen.push_back(std::move(text));
  });
  return out;
}

void apply_service_defaults(Object& service) {
  Object& spec = ensure_object(service, "spec");
  default_affinity(spec);
  each_mutable(spec, "ports", default_port);
  if (is_external(spec)) fill(spec, "externalTrafficPolicy", "Cluster");
  if (needs_cluster_ip(spec)) fill_missing(spec, "internalTrafficPolicy", "Cluster");
  if (get_string(spec, "type") != "LoadBalancer") return;
  fill_missing(spec, "allocateLoadBalancerNodePorts", true);
  if (Object* status = mutable_object(service, "status")) {
    if (Object* balancer = mutable_object(*status, "loadBalancer")) {
      each_mutable(*balancer, "ingress", [](Object& ingress) {
        if (!get_string(ingress, "ip").empty()) fill_missing(ingress, "ipMode", "VIP");
      });
    }
  }
}

void apply_family_defaults(Object& spec) {
  if (!needs_cluster_ip(spec)) return;
  const Array* families = get_array(spec, "ipFamilies");
  const bool given = families != nullptr && !families->empty();
  const bool anything = is_headless(spec) && object_or_empty(spec, "selector").empty();
  // Endpoints of a headless service without selector are somebody else's: they may have any address.
  if (anything) {
    fill_missing(spec, "ipFamilyPolicy", "RequireDualStack");
    if (given) return;
    Array& list = spec["ipFamilies"].emplace_array();
    list.emplace_back("IPv4");
    if (get_string(spec, "ipFamilyPolicy") != "SingleStack") list.emplace_back("IPv6");
    return;
  }
  fill_missing(spec, "ipFamilyPolicy", "SingleStack");
  if (given) return;
  const auto ips = cluster_ips(spec);
  Array& list = spec["ipFamilies"].emplace_array();
  list.emplace_back(ips.empty() || ips[0] == kHeadless ? std::string_view("IPv4") : family_of(ips[0]));
}

void keep_allocated(Object& spec, const Object& before) {
  if (needs_cluster_ip(spec) && needs_cluster_ip(before)) {
    if (get_string(spec, "clusterIP").empty()) take_member(spec, before, "clusterIP");
    if (cluster_ips(spec).empty() && same_member(spec, before, "clusterIP")) take_member(spec, before, "clusterIPs");
    for (std::string_view key : {"ipFamilyPolicy", "ipFamilies"}) {
      if (!has(spec, key)) take_member(spec, before, key);
    }
  }
  if (needs_node_ports(spec) && needs_node_ports(before)) {
    each_mutable(spec, "ports", [&](Object& port) {
      if (get_int(port, "nodePort").value_or(0) != 0) return;
      each(before, "ports", [&](const Object& old, std::size_t) {
        if (same_member(port, old, "port") && same_member(port, old, "protocol") && has(old, "nodePort"))
          take_member(port, old, "nodePort");
      });
    });
  }
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
  if (ip == old || !same_cluster_ips(spec, *before)) return;
  set_cluster_ips(spec, ip.empty() ? std::vector<std::string>() : std::vector<std::string>{ip});
}

void drop_left_behind(Object& spec, const Object& before) {
  if (needs_cluster_ip(before) && !needs_cluster_ip(spec)) {
    if (same_member(spec, before, "clusterIP") && same_cluster_ips(spec, before)) {
      erase_member(spec, "clusterIP");
      erase_member(spec, "clusterIPs");
    }
    for (std::string_view key : {"ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"}) {
      if (same_member(spec, before, key)) erase_member(spec, key);
    }
  }
  const auto may_have_node_ports = [](const Object& each_spec) {
    const std::string_view type = get_string(each_spec, "type");
    return type == "NodePort" || type == "LoadBalancer";
  };
  if (may_have_node_ports(before) && !may_have_node_ports(spec)) {
    const Value* ports = find(before, "ports");
    each_mutable(spec, "ports", [&](Object& port) {
      if (ports == nullptr || !ports->is_array()) return;
      for (const Value& old : ports->get_array()) {
        if (old.is_object() && same_member(port, old.get_object(), "nodePort")) {
          erase_member(port, "nodePort");
          return;
        }
      }
    });
  }
  if (needs_health_check_port(before) && !needs_health_check_port(spec) && same_member(spec, before, "healthCheckNodePort")) {
    erase_member(spec, "healthCheckNodePort");
  }
  if (is_external(before) && !is_external(spec) && same_member(spec, before, "externalTrafficPolicy")) {
    erase_member(spec, "externalTrafficPolicy");
  }
  if (get_string(before, "type") == "LoadBalancer" && get_string(spec, "type") != "LoadBalancer") {
    for (std::string_view key : {"allocateLoadBalancerNodePorts", "loadBalancerClass"}) {
      if (same_member(spec, before, key)) erase_member(spec, key);
    }
  }
  if (get_string(before, "type") == "ExternalName" && get_string(spec, "type") != "ExternalName" &&
      same_member(spec, before, "externalName")) {
    erase_member(spec, "externalName");
  }
}

}  // namespace backplane::core
