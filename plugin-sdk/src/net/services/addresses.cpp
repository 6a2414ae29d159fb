#include "net/services/addresses.hpp"

#include <algorithm>

#include "backplane/core/meta.hpp"

namespace backplane::services {
namespace {

const Object& spec_of(const Object& service) {
  static const Object kNone;
  const Object* spec = get_object(service, "spec");
  return spec ? *spec : kNone;
}

bool has_cluster_ip(std::string_view type) { return type == "ClusterIP" || type == "LoadBalancer" || type == "NodePort"; }

Status unsupported(std::string_view type) { return Status(500, Reason::kNone, "unsupported service type " + quoted(type)); }

Result<const Object*> find_port(const Object& spec, std::string_view name, int port) {
  if (const Array* ports = get_array(spec, "ports")) {
    for (const Value& each : *ports) {
      if (each.is_object() && get_int(each.get_object(), "port") == port) return &each.get_object();
    }
  }
  return service_unavailable("no service port " + std::to_string(port) + " found for service " + quoted(name));
}

// Returns the number of the slice's port with that name; 0 if it has none.
long long port_number(const Object& slice, std::string_view name) {
  const Array* ports = get_array(slice, "ports");
  if (ports == nullptr) return 0;
  for (const Value& each : *ports) {
    if (!each.is_object() || !each.get_object().contains("name") || get_string(each.get_object(), "name") != name) continue;
    if (const auto number = get_int(each.get_object(), "port")) return *number;
  }
  return 0;
}

// True if the endpoint is ready. An endpoint without the condition `ready` is ready.
bool is_ready(const Object& endpoint) {
  const Object* conditions = get_object(endpoint, "conditions");
  return conditions == nullptr || get_bool(*conditions, "ready").value_or(true);
}

void add_addresses(const Object& slice, long long port, std::vector<std::string>& out) {
  const Array* endpoints = get_array(slice, "endpoints");
  if (endpoints == nullptr || port == 0) return;
  for (const Value& each : *endpoints) {
    if (!each.is_object() || !is_ready(each.get_object())) continue;
    const Array* addresses = get_array(each.get_object(), "addresses");
    if (addresses == nullptr || addresses->empty() || !addresses->front().is_string()) continue;
    const auto& text = addresses->front().get_string();
    out.push_back(join_host_port(std::string_view(text.data(), text.size()), port));
  }
}

std::string first_family(const Object& spec) {
  const Array* families = get_array(spec, "ipFamilies");
  if (families == nullptr || families->empty() || !families->front().is_string()) return {};
  return std::string(families->front().get_string());
}

}  // namespace

std::string join_host_port(std::string_view host, long long port) {
  std::string out(host);
  if (host.find(':') != std::string_view::npos) out = "[" + out + "]";
  return out + ":" + std::to_string(port);
}

Result<std::string> cluster_address(const Object& service, std::string_view name, int port) {
  const Object& spec = spec_of(service);
  const std::string_view type = get_string(spec, "type");
  const std::string_view ip = get_string(spec, "clusterIP");
  if (type == "ExternalName") return join_host_port(get_string(spec, "externalName"), port);
  if (type == "ClusterIP" && ip == "None") return Status(500, Reason::kNone, R"(cannot route to service with ClusterIP "None")");
  if (!has_cluster_ip(type)) return unsupported(type);
  auto found = find_port(spec, name, port);
  if (!found.ok()) return std::move(found).status();
  return join_host_port(ip, port);
}

Result<Endpoints> endpoint_addresses(const Object& service, std::string_view name, int port, const std::vector<Object>& slices) {
  const Object& spec = spec_of(service);
  const std::string_view type = get_string(spec, "type");
  if (!has_cluster_ip(type)) return unsupported(type);
  auto found = find_port(spec, name, port);
  if (!found.ok()) return std::move(found).status();
  const std::string_view port_name = get_string(**found, "name");
  const std::string family = first_family(spec);
  Endpoints out;
  for (const bool wanted : {true, false}) {
    for (const Object& slice : slices) {
      const bool first = family.empty() || get_string(slice, "addressType") == family;
      if (first == wanted) add_addresses(slice, port_number(slice, port_name), out.addresses);
    }
    if (wanted) out.preferred = out.addresses.size();
  }
  if (out.preferred == 0) out.preferred = out.addresses.size();
  if (out.addresses.empty()) return service_unavailable("no endpoints available for service " + quoted(name));
  return out;
}

}  // namespace backplane::services
