#include "services/reservation.hpp"

#include <algorithm>

#include "backplane/kit/walk.hpp"
#include "services/spec.hpp"

namespace backplane::core {

using namespace kit;

namespace {

template <class T, class U>
bool holds(const std::vector<T>& list, const U& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

}  // namespace

Holdings holdings_of(const Object& spec) {
  Holdings out;
  for (std::string& ip : cluster_ips(spec)) {
    if (ip != kHeadless) out.addresses.push_back(std::move(ip));
  }
  each(spec, "ports", [&](const Object& port, std::size_t) {
    const std::int64_t node = get_int(port, "nodePort").value_or(0);
    if (node != 0 && !holds(out.ports, node)) out.ports.push_back(node);
  });
  if (const std::int64_t health = get_int(spec, "healthCheckNodePort").value_or(0); health != 0) out.ports.push_back(health);
  return out;
}

void Reservation::give_back() {
  for (const std::string& address : taken_.addresses) allocator_.release_address(address);
  for (std::int64_t port : taken_.ports) {
    if (!trial_) allocator_.release_port(port);
  }
  taken_ = {};
}

void Reservation::reserve(Object& spec, const Holdings& held, FieldErrors& errors) {
  reserve_addresses(spec, held, errors);
  reserve_ports(spec, held, errors);
  reserve_health_port(spec, held, errors);
}

void Reservation::reserve_addresses(Object& spec, const Holdings& held, FieldErrors& errors) {
  if (!needs_cluster_ip(spec) || is_headless(spec)) return;
  for (const std::string& ip : cluster_ips(spec)) {
    if (holds(held.addresses, ip)) continue;
    const std::string why = allocator_.take_address(ip);
    if (why.empty())
      taken_.addresses.push_back(ip);
    else
      errors.invalid_raw("spec.clusterIPs", to_json(*get_array(spec, "clusterIPs")), why);
  }
  if (!cluster_ips(spec).empty() || !errors.empty()) return;
  auto any = allocator_.take_any_address();
  if (!any) {
    errors.internal("spec.clusterIPs", "failed to allocate a serviceIP: range is full");
    return;
  }
  taken_.addresses.push_back(*any);
  spec["clusterIP"] = *any;
  spec["clusterIPs"].emplace_array().emplace_back(*any);
}

bool Reservation::take_port(std::int64_t port, const Holdings& held, const std::string& path, FieldErrors& errors) {
  // Two protocols may share one port.
  if (holds(held.ports, port) || holds(taken_.ports, port)) return true;
  const std::string why =
      trial_ ? (allocator_.port_is_taken(port) ? "provided port is already allocated" : "") : allocator_.take_port(port);
  if (why.empty()) {
    taken_.ports.push_back(port);
    return true;
  }
  errors.invalid(path, static_cast<long long>(port), why);
  return false;
}

std::optional<std::int64_t> Reservation::take_any_port() { return trial_ ? make_up_port() : allocator_.take_any_port(); }

// Upstream's dummy: the one after the highest port of this trial, be it in range or not.
std::int64_t Reservation::make_up_port() {
  constexpr std::int64_t kFirst = 32768;
  if (taken_.ports.empty()) return kFirst + 1;
  return std::max<std::int64_t>(0, *std::max_element(taken_.ports.begin(), taken_.ports.end())) + 1;
}

void Reservation::reserve_ports(Object& spec, const Holdings& held, FieldErrors& errors) {
  if (needs_cluster_ip(spec) && get_string(spec, "type") != "ClusterIP") {
    std::size_t i = 0;
    each_mutable(spec, "ports", [&](Object& port) {
      const std::int64_t node = get_int(port, "nodePort").value_or(0);
      if (node != 0) take_port(node, held, at(at("spec.ports", i), "nodePort"), errors);
      ++i;
    });
  }
  if (!needs_node_ports(spec)) return;
  std::size_t i = 0;
  each_mutable(spec, "ports", [&](Object& port) {
    const std::size_t index = i++;
    if (get_int(port, "nodePort").value_or(0) != 0 || !errors.empty()) return;
    // The same service port over another protocol uses the same node port.
    each(spec, "ports", [&](const Object& other, std::size_t) {
      const std::int64_t node = get_int(other, "nodePort").value_or(0);
      if (node != 0 && same_member(port, other, "port") && !same_member(port, other, "protocol")) port["nodePort"] = node;
    });
    if (get_int(port, "nodePort").value_or(0) != 0) return;
    const auto any = take_any_port();
    if (!any) {
      errors.internal(at(at("spec.ports", index), "nodePort"), "failed to allocate a nodePort: range is full");
      return;
    }
    taken_.ports.push_back(*any);
    port["nodePort"] = *any;
  });
}

void Reservation::reserve_health_port(Object& spec, const Holdings& held, FieldErrors& errors) {
  if (!needs_health_check_port(spec) || !errors.empty()) return;
  const std::int64_t asked = get_int(spec, "healthCheckNodePort").value_or(0);
  if (asked != 0) {
    take_port(asked, held, "spec.healthCheckNodePort", errors);
    return;
  }
  const auto any = take_any_port();
  if (!any) {
    errors.internal("spec.healthCheckNodePort", "failed to allocate a HealthCheck NodePort: range is full");
    return;
  }
  taken_.ports.push_back(*any);
  spec["healthCheckNodePort"] = *any;
}

}  // namespace backplane::core
