// Rules for services (pkg/apis/core/validation ValidateService).
#include <algorithm>
#include <set>

#include "backplane/kit/addresses.hpp"
#include "backplane/kit/walk.hpp"
#include "backplane/names.hpp"
#include "backplane/workload/pod_validation.hpp"
#include "printing/go_struct.hpp"
#include "services/ranges.hpp"
#include "services/spec.hpp"

namespace backplane::core {
namespace {

using namespace kit;
using namespace workload;

constexpr std::int64_t kMaxStickySeconds = 86400;
constexpr std::string_view kOnlyLoadBalancer = "may only be used when `type` is 'LoadBalancer'";

std::size_t items(const Object& parent, std::string_view key) {
  const Array* list = get_array(parent, key);
  return list ? list->size() : 0;
}

// What is compared of a port.
std::string print_port(const Object& port) {
  Object compared;
  for (std::string_view key : {"protocol", "port"}) take_member(compared, port, key);
  return to_json(go_struct("ServicePort", compared));
}

void check_ports(const Object& spec, FieldErrors& errors) {
  const std::string_view type = get_string(spec, "type");
  if (items(spec, "ports") == 0 && !is_headless(spec) && type != "ExternalName") errors.required("spec.ports");
  const bool many = items(spec, "ports") > 1;
  std::set<std::string> node_ports, ports;
  each(spec, "ports", [&](const Object& port, std::size_t i) {
    const std::string path = at("spec.ports", i);
    if (many && get_string(port, "name").empty()) errors.required(at(path, "name"));
    const std::string protocol(get_string(port, "protocol"));
    if (const std::int64_t node = get_int(port, "nodePort").value_or(0); node != 0) {
      if (type == "ClusterIP") errors.forbidden(at(path, "nodePort"), "may not be used when `type` is 'ClusterIP'");
      if (!node_ports.insert(protocol + "/" + std::to_string(node)).second)
        errors.duplicate_raw(at(path, "nodePort"), std::to_string(node));
    }
    const std::string key = protocol + "/" + std::to_string(get_int(port, "port").value_or(0));
    if (!ports.insert(key).second) errors.duplicate_raw(path, print_port(port));
  });
}

void check_type(const Object& spec, FieldErrors& errors) {
  const std::string_view type = get_string(spec, "type");
  if ((type == "LoadBalancer" || type == "NodePort") && is_headless(spec)) {
    errors.invalid("spec.clusterIPs[0]", kHeadless, "may not be set to 'None' for " + std::string(type) + " services");
  }
  if (type != "ExternalName") return;
  std::string_view name = get_string(spec, "externalName");
  if (name.empty()) {
    errors.required("spec.externalName");
    return;
  }
  if (name.ends_with('.')) name.remove_suffix(1);
  add_problems(is_dns1123_subdomain(name), "spec.externalName", name, errors);
}

void check_affinity(const Object& spec, FieldErrors& errors) {
  const std::string_view affinity = get_string(spec, "sessionAffinity");
  if (affinity == "ClientIP") {
    const std::string path = "spec.sessionAffinityConfig.clientIP.timeoutSeconds";
    const auto seconds = get_int_path(spec, "sessionAffinityConfig.clientIP.timeoutSeconds");
    if (!seconds) {
      errors.required("spec.sessionAffinityConfig", "when session affinity type is ClientIP");
    } else if (*seconds <= 0 || *seconds > kMaxStickySeconds) {
      errors.invalid(path, static_cast<long long>(*seconds), "must be greater than 0 and less than 86400");
    }
  } else if (affinity == "None" && has(spec, "sessionAffinityConfig")) {
    errors.forbidden("spec.sessionAffinityConfig", "must not be set when session affinity is None");
  }
}

void check_families(const Object& spec, FieldErrors& errors) {
  std::set<std::string> seen;
  const Array* families = get_array(spec, "ipFamilies");
  for (std::size_t i = 0; families != nullptr && i < families->size(); ++i) {
    const std::string family(text_of((*families)[i]));
    if (family != "IPv4" && family != "IPv6") errors.not_supported(at("spec.ipFamilies", i), family, {"IPv4", "IPv6"});
    if (!seen.insert(family).second) errors.duplicate(at("spec.ipFamilies", i), family);
  }
}

void check_families_of_ips(const Object& spec, const std::vector<std::string>& ips, FieldErrors& errors) {
  const auto families = texts_of(spec, "ipFamilies");
  for (std::size_t i = 0; i < ips.size() && i < families.size(); ++i) {
    if (families[i] == family_of(ips[i]) || (families[i] != "IPv4" && families[i] != "IPv6")) continue;
    errors.invalid(at("spec.clusterIPs", i), ips[i],
                   "expected an " + families[i] + " value as indicated by `ipFamilies[" + std::to_string(i) + "]`");
  }
}

void check_cluster_ips(const Object& spec, FieldErrors& errors) {
  const auto ips = cluster_ips(spec);
  const std::string_view first = get_string(spec, "clusterIP");
  if (get_string(spec, "type") == "ExternalName") {
    for (std::string_view key : {"ipFamilyPolicy", "ipFamilies", "clusterIPs"}) {
      const Value* value = find(spec, key);
      const bool set = value != nullptr && !(value->is_array() && value->get_array().empty());
      if (set) errors.forbidden(at("spec", key), "may not be set for ExternalName services");
    }
    return;
  }
  check_families(spec, errors);
  if (ips.empty()) {
    if (!first.empty()) errors.required("spec.clusterIPs");
    return;
  }
  const auto printed = [&] { return to_json(*get_array(spec, "clusterIPs")); };
  if (ips[0] != first) errors.invalid_raw("spec.clusterIPs", printed(), "first value must match `clusterIP`");
  bool good = true;
  for (std::size_t i = 0; i < ips.size(); ++i) {
    if (i == 0 && ips[i] == kHeadless) {
      if (ips.size() > 1) errors.invalid_raw("spec.clusterIPs", printed(), "'None' must be the first and only value");
      good = good && ips.size() == 1;
      continue;
    }
    const auto problems = legacy_ip_problems(ips[i]);
    add_problems(problems, at("spec.clusterIPs", i), ips[i], errors);
    good = good && problems.empty();
  }
  if (ips.size() > 2) errors.invalid_raw("spec.clusterIPs", printed(), "may only hold up to 2 values");
  if (!good || ips[0] == kHeadless) return;
  if (ips.size() == 2 && family_of(ips[0]) == family_of(ips[1])) {
    errors.invalid_raw("spec.clusterIPs", printed(), "may specify no more than one IP for each IP family");
  }
  check_families_of_ips(spec, ips, errors);
}

// Looked at by create and update rules alike, and so twice on update.
void check_balancer_class(const Object& spec, FieldErrors& errors) {
  const Value* name = find(spec, "loadBalancerClass");
  if (name == nullptr || !name->is_string()) return;
  if (get_string(spec, "type") != "LoadBalancer") {
    errors.forbidden("spec.loadBalancerClass", kOnlyLoadBalancer);
  } else {
    add_problems(is_qualified_name(text_of(*name)), "spec.loadBalancerClass", text_of(*name), errors);
  }
}

void check_load_balancer(const Object& spec, FieldErrors& errors) {
  const bool balanced = get_string(spec, "type") == "LoadBalancer";
  if (const Array* ranges = get_array(spec, "loadBalancerSourceRanges"); ranges != nullptr && !ranges->empty()) {
    if (!balanced) errors.forbidden("spec.LoadBalancerSourceRanges", kOnlyLoadBalancer);
    for (std::size_t i = 0; balanced && i < ranges->size(); ++i) {
      const std::string_view range = text_of((*ranges)[i]);
      if (!is_cidr(range)) {
        errors.invalid(at("spec.LoadBalancerSourceRanges", i), range, "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)");
      }
    }
  }
  const bool says = has(spec, "allocateLoadBalancerNodePorts");
  if (balanced && !says) errors.required("spec.allocateLoadBalancerNodePorts");
  if (!balanced && says) errors.forbidden("spec.allocateLoadBalancerNodePorts", kOnlyLoadBalancer);
  check_balancer_class(spec, errors);
}

void check_traffic(const Object& spec, FieldErrors& errors) {
  const std::string_view type = get_string(spec, "type"), external = get_string(spec, "externalTrafficPolicy");
  const bool reachable = type == "NodePort" || type == "LoadBalancer" || (type == "ClusterIP" && items(spec, "externalIPs") > 0);
  if (!reachable) {
    if (!external.empty()) errors.invalid("spec.externalTrafficPolicy", external, "may only be set for externally-accessible services");
  } else if (external.empty()) {
    errors.required("spec.externalTrafficPolicy");
  } else {
    check_one_of(spec, "externalTrafficPolicy", "spec", {"Cluster", "Local"}, errors);
  }
  const std::int64_t health = get_int(spec, "healthCheckNodePort").value_or(0);
  if (!needs_health_check_port(spec) && health != 0) {
    errors.invalid("spec.healthCheckNodePort", static_cast<long long>(health),
                   "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'");
  } else if (health != 0) {
    check_port(find(spec, "healthCheckNodePort"), "spec.healthCheckNodePort", errors);
  }
  if (type == "NodePort" || type == "LoadBalancer" || type == "ClusterIP") {
    if (!has(spec, "internalTrafficPolicy")) errors.required("spec.internalTrafficPolicy");
  }
}

// What a service has been given first stays as long as it has any; the second goes only with the policy.
void check_list_change(const Object& spec, const Object& before, std::string_view key, std::string_view item, FieldErrors& errors) {
  const auto now = texts_of(spec, key), old = texts_of(before, key);
  if (old.empty()) return;
  const std::string path = at("spec", key);
  const Value* list = find(spec, key);
  const std::string printed = list != nullptr ? to_json(*list) : "null";
  if (now.empty()) {
    errors.invalid_raw(at(path, std::size_t{0}), printed, "primary " + std::string(item) + " can not be unset");
    return;
  }
  const std::size_t compared = now.size() == old.size() ? now.size() : 1;
  for (std::size_t i = 0; i < compared; ++i) {
    if (now[i] != old[i]) errors.invalid_raw(at(path, i), printed, "may not change once set");
  }
  if (now.size() < old.size() && now.size() == 1 && get_string(spec, "ipFamilyPolicy") != "SingleStack") {
    errors.invalid("spec.ipFamilyPolicy", get_string(spec, "ipFamilyPolicy"),
                   "must be set to 'SingleStack' when releasing the secondary " + std::string(item));
  }
}

// Texts that are no addresses are refused as such.
bool all_addresses(const std::vector<std::string>& ips) {
  return std::all_of(ips.begin(), ips.end(), [](const std::string& ip) { return ip == kHeadless || is_valid_ip(ip).empty(); });
}

}  // namespace

void validate_cluster_ips(const Object& spec, FieldErrors& errors) {
  check_one_of(spec, "ipFamilyPolicy", "spec", {"PreferDualStack", "RequireDualStack", "SingleStack"}, errors);
  check_cluster_ips(spec, errors);
}

void validate_service_spec(const Object& spec, FieldErrors& errors) {
  check_ports(spec, errors);
  validate_labels(object_or_empty(spec, "selector"), "spec.selector", errors);
  check_affinity(spec, errors);
  check_cluster_ips(spec, errors);
  check_type(spec, errors);
  check_load_balancer(spec, errors);
  check_traffic(spec, errors);
}

void validate_service_change(const Object& spec, const Object& before, FieldErrors& errors) {
  if (get_string(spec, "type") == "LoadBalancer" && get_string(before, "type") == "LoadBalancer" &&
      !same_member(spec, before, "loadBalancerClass")) {
    const Value* name = find(spec, "loadBalancerClass");
    errors.invalid_raw("spec.loadBalancerClass", name ? to_json(*name) : "null", "may not change once set");
  }
  check_balancer_class(spec, errors);
  if (needs_health_check_port(spec) && needs_health_check_port(before) && !same_member(spec, before, "healthCheckNodePort")) {
    errors.forbidden("spec.healthCheckNodePort", "field is immutable");
  }
  if (!needs_cluster_ip(spec) || !needs_cluster_ip(before) || (is_headless(spec) && is_headless(before))) return;
  if (all_addresses(cluster_ips(spec))) check_list_change(spec, before, "clusterIPs", "clusterIP", errors);
  check_list_change(spec, before, "ipFamilies", "ipFamily", errors);
}

}  // namespace backplane::core
