#include "former_versions.hpp"

#include "backplane/core/json_access.hpp"
#include "backplane/rest/former_versions.hpp"
#include "kinds.hpp"
#include "networking_former_json.hpp"

namespace backplane::networking {
namespace {

using namespace kit;

void backend_to_v1(Object& backend) {
  const Value* port = find(backend, "servicePort");
  const bool named = port != nullptr && port->is_string();
  Object service(backend.storage());
  service["name"] = get_string(backend, "serviceName");
  if (!is_unset(port)) service["port"] = Object{{named ? "name" : "number", *port}};
  if (!get_string(backend, "serviceName").empty() || named || !is_unset(port)) backend["service"] = std::move(service);
  erase_member(backend, "serviceName");
  erase_member(backend, "servicePort");
}

void path_to_v1(Object& path) {
  fill_missing(path, "pathType", "ImplementationSpecific");
  if (Object* backend = mutable_object(path, "backend")) backend_to_v1(*backend);
}

Status to_v1(Object& ingress) {
  Object* spec = mutable_object(ingress, "spec");
  if (spec == nullptr) return {};
  if (Object* found = mutable_object(*spec, "backend")) {
    Object backend = std::move(*found);
    backend_to_v1(backend);
    erase_member(*spec, "backend");
    (*spec)["defaultBackend"] = std::move(backend);
  }
  each_mutable(*spec, "rules", [](Object& rule) {
    if (Object* http = mutable_object(rule, "http")) each_mutable(*http, "paths", path_to_v1);
  });
  return {};
}

}  // namespace

Status add_former_versions(Scheme& scheme) {
  const auto schemas = networking_schemas();
  if (!schemas.ok()) return schemas.status();
  return add_former_versions(scheme, "networking", networking_former_json(), schemas->front(),
                             {{{"Ingress", "networking.k8s.io/v1beta1"}, to_v1}, {{"Ingress", "extensions/v1beta1"}, to_v1}});
}

}  // namespace backplane::networking
