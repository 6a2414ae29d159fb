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
bool may_have_node_ports(const Object& spec) {
  const std::string_view type = get_string(spec, "type");
  return type == "NodePort" || type == "LoadBalancer";
}
std::vector<std::string> texts_of(const Object& spec, std::string_view key) {
  std::vector<std::string> out;
  if (const Array* list = get_array(spec, key)) {
    for (const Value& text : *list) out.emplace_back(text_of(text));
  }
  return out;
}
void add_text(Object& spec, std::string_view key, std::string_view text) {
  Value& list = spec[key];
  if (!list.is_array()) list.emplace_array();
  list.get_array().emplace_back(text);
}
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

namespace {

// Ports keep their node ports by name, unless another port has that number now.
void keep_node_ports(Object& spec, const Object& before) {
  const auto now = service_node_ports(spec), old = service_node_ports(before);
  std::vector<std::int64_t> used;
  std::copy_if(old.begin(), old.end(), std::back_inserter(used),
               [&](std::int64_t port) { return std::find(now.begin(), now.end(), port) != now.end(); });
  each_mutable(spec, "ports", [&](Object& port) {
    if (get_int(port, "nodePort").value_or(0) != 0) return;
    std::int64_t kept = 0;
    each(before, "ports", [&](const Object& each_old, std::size_t) {
      if (get_string(each_old, "name") == get_string(port, "name")) kept = get_int(each_old, "nodePort").value_or(0);
    });
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
