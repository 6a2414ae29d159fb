#include "endpoints.hpp"

#include <algorithm>

#include <backplane/net/informer.hpp>

namespace backplane {
namespace {

std::vector<const Object*> objects_of(const Object& parent, std::string_view key) {
  std::vector<const Object*> out;
  if (const Array* list = get_array(parent, key)) {
    for (const Value& item : *list) {
      if (item.is_object()) out.push_back(&item.get_object());
    }
  }
  return out;
}

// An endpoint without the condition `ready` is ready.
bool is_ready(const Object& endpoint) {
  const Object* conditions = get_object(endpoint, "conditions");
  return conditions == nullptr || get_bool(*conditions, "ready").value_or(true);
}

}  // namespace

std::vector<std::string> service_of_slice(const ObjectEntry& slice) {
  const auto service = slice.labels().find("kubernetes.io/service-name");
  if (!service) return {};
  return {object_key(slice.ns(), *service)};
}

const Object* port_of(const Object& service_spec, int number) {
  for (const Object* port : objects_of(service_spec, "ports")) {
    if (get_int(*port, "port") == number) return port;
  }
  return nullptr;
}

bool slice_has(const Object& slice, std::string_view port_name) {
  const auto endpoints = objects_of(slice, "endpoints");
  const bool ready = std::any_of(endpoints.begin(), endpoints.end(), [](const Object* each) { return is_ready(*each); });
  const auto ports = objects_of(slice, "ports");
  // A port without a number means all ports, and cannot be called.
  const auto fits = [&](const Object* port) {
    return port->contains("name") && get_string(*port, "name") == port_name && get_int(*port, "port").has_value();
  };
  return ready && std::any_of(ports.begin(), ports.end(), fits);
}

}  // namespace backplane
