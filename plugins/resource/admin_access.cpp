#include "admin_access.hpp"

#include <optional>
#include <string>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/rest/roles.hpp"

namespace backplane::resource {
namespace {

constexpr std::string_view kLabel = "resource.kubernetes.io/admin-access";

// Returns the index of the first request with administrative access.
std::optional<std::size_t> asking(const Object& object) {
  const Object* spec = &object_or_empty(object, "spec");
  if (get_string(object, "kind") == "ResourceClaimTemplate") spec = &object_or_empty(*spec, "spec");
  std::optional<std::size_t> out;
  each(object_or_empty(*spec, "devices"), "requests", [&](const Object& request, std::size_t i) {
    const bool asks = get_bool(object_or_empty(request, "exactly"), "adminAccess").value_or(false);
    if (asks && !out) out = i;
  });
  return out;
}

bool allows(const Object& ns) { return get_string(object_or_empty(object_or_empty(ns, "metadata"), "labels"), kLabel) == "true"; }

}  // namespace

Task<void> check_admin_namespace(Host& host, RequestContext& context, std::string ns, std::string path, FieldErrors& errors) {
  const std::shared_ptr<RestStorage> storage = host.find_storage({"", "v1", "namespaces"});
  auto* getter = role_of<Getter>(storage);
  if (getter == nullptr) co_return;
  auto found = co_await getter->get(context, ns, GetOptions());
  bool allowed = false;
  if (found.ok()) {
    const Value object = json::parse((*found)->json().view());
    allowed = object.is_object() && allows(object.get_object());
  }
  if (!found.ok()) {
    errors.internal(path, "could not retrieve namespace to verify admin access: " + found.status().message());
  } else if (!allowed) {
    errors.forbidden(path, "admin access to devices requires the `" + std::string(kLabel) + ": true` label on the containing namespace");
  }
}

Task<Result<StoreHooks::Begun>> AdminAccessHooks::begin_create(RequestContext& context, Object& object, bool) const {
  const std::optional<std::size_t> request = asking(object);
  if (!request) co_return Begun();
  FieldErrors errors;
  const std::string path = "spec.devices.requests[" + std::to_string(*request) + "].adminAccess";
  co_await check_admin_namespace(host_, context, std::string(meta_namespace(object)), path, errors);
  if (errors.empty()) co_return Begun();
  co_return errors.to_status("resource.k8s.io", get_string(object, "kind"), meta_name(object));
}

}  // namespace backplane::resource
