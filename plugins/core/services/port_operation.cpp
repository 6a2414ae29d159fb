#include "services/port_operation.hpp"

#include <algorithm>
#include <map>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/points/admission.hpp"
#include "services/allocation_metrics.hpp"
#include "services/spec.hpp"

namespace backplane::core {

namespace {

bool holds(const std::vector<std::int64_t>& list, std::int64_t item) { return std::find(list.begin(), list.end(), item) != list.end(); }

std::int64_t node_port(const Object& port) { return get_int(port, "nodePort").value_or(0); }

Array& ports_of(Object& spec) {
  static Array none;
  Value* list = find(spec, "ports");
  return list != nullptr && list->is_array() ? list->get_array() : none;
}

// Returns the node port that the client requests for any of the ports with this number; 0: none.
std::int64_t requested(const Object& spec, std::int64_t number) {
  std::int64_t out = 0;
  each(spec, "ports", [&](const Object& port, std::size_t) {
    if (out == 0 && get_int(port, "port").value_or(0) == number) out = node_port(port);
  });
  return out;
}

Status range_full() { return internal_error("failed to allocate a nodePort: range is full"); }

}  // namespace

std::string PortOperation::take(std::int64_t port) {
  std::string why;
  if (!trial_ && !range_.holds(port)) {
    why = "provided port is not in the valid range. The range of valid ports is " + range_.text();
  } else if (map_.taken(port) || holds(taken_, port)) {
    why = "provided port is already allocated";
  }
  if (!trial_) why.empty() ? count_port(kStaticScope) : count_port_error(kStaticScope);
  if (why.empty()) taken_.push_back(port);
  return why;
}

std::int64_t PortOperation::take_any() {
  if (trial_) {
    // Upstream's placeholder: the port after the highest one of this trial, in range or not.
    constexpr std::int64_t kFirst = 32768;
    const std::int64_t last = taken_.empty() ? kFirst : std::max<std::int64_t>(0, *std::max_element(taken_.begin(), taken_.end()));
    taken_.push_back(last + 1);
    return last + 1;
  }
  PortMap map = map_;
  for (std::int64_t port : taken_) map.set(port);
  const std::int64_t port = map.pick(range_);
  port != 0 ? count_port(kDynamicScope) : count_port_error(kDynamicScope);
  if (port != 0) taken_.push_back(port);
  return port;
}

Status PortOperation::take_named(const Object& service, std::size_t index, std::int64_t port) {
  const std::string why = take(port);
  if (why.empty()) return {};
  FieldErrors errors;
  errors.invalid(at(at("spec.ports", index), "nodePort"), static_cast<long long>(port), why);
  return errors.to_status("", "Service", meta_name(service));
}

// Ports of one number share one node port for all protocols, unless the client requests another.
Status PortOperation::create_ports(Object& service) {
  Object& spec = ensure_object(service, "spec");
  const bool any = needs_node_ports(spec);
  std::map<std::int64_t, std::int64_t> given;  // by port number
  std::size_t index = 0;
  for (Value& value : ports_of(spec)) {
    const std::size_t i = index++;
    if (!value.is_object()) continue;
    Object& port = value.get_object();
    const std::int64_t asked = node_port(port), number = get_int(port, "port").value_or(0);
    if (asked == 0 && !any) continue;
    std::int64_t& have = given[number];
    if (have != 0 && (asked == 0 || asked == have)) {
      port["nodePort"] = have;
    } else if (have != 0) {
      if (Status status = take_named(service, i, asked); !status.ok()) return status;
    } else if (const std::int64_t wanted = requested(spec, number); wanted != 0) {
      if (Status status = take_named(service, i, wanted); !status.ok()) return status;
      port["nodePort"] = have = wanted;
    } else {
      have = take_any();
      if (have == 0) return range_full();
      port["nodePort"] = have;
    }
  }
  return {};
}

Status PortOperation::update_ports(Object& service, const Object& before) {
  Object& spec = ensure_object(service, "spec");
  const std::vector<std::int64_t> held = node_ports_of(before);
  const bool any = needs_node_ports(spec);
  std::size_t index = 0;
  for (Value& value : ports_of(spec)) {
    const std::size_t i = index++;
    if (!value.is_object()) continue;
    Object& port = value.get_object();
    const std::int64_t asked = node_port(port);
    if (asked != 0) {
      if (holds(held, asked) || holds(taken_, asked)) continue;
      if (Status status = take_named(service, i, asked); !status.ok()) return status;
    } else if (any) {
      const std::int64_t picked = take_any();
      if (picked == 0) return range_full();
      port["nodePort"] = picked;
    }
  }
  const std::string repeated = repeated_node_port(spec);
  // Upstream's allocator detects repeated ports before validation, with this message.
  return repeated.empty() ? Status() : Status(500, Reason::kNone, "duplicate nodePort: " + repeated);
}

Status PortOperation::allocate_health_port(Object& spec, const Object* before) {
  if (!needs_health_check_port(spec) || (before != nullptr && needs_health_check_port(*before))) return {};
  const std::int64_t asked = get_int(spec, "healthCheckNodePort").value_or(0);
  if (asked != 0) {
    const std::string why = take(asked);
    if (why.empty()) return {};
    return internal_error("failed to allocate requested HealthCheck NodePort " + std::to_string(asked) + ": " + why);
  }
  const std::int64_t picked = take_any();
  if (picked == 0) return internal_error("failed to allocate a HealthCheck NodePort 0: range is full");
  spec["healthCheckNodePort"] = picked;
  return {};
}

Status PortOperation::allocate(Object& service, const Object* before) {
  Object& spec = ensure_object(service, "spec");
  if (may_have_node_ports(spec)) {
    Status status = before == nullptr ? create_ports(service) : update_ports(service, *before);
    if (!status.ok()) return status;
  }
  return allocate_health_port(spec, before);
}

}  // namespace backplane::core
