#include "quota/device_classes.hpp"

#include <algorithm>

#include "backplane/core/json_access.hpp"

namespace backplane::admission::quota {
namespace {

constexpr std::string_view kImplicitResources = "deviceclass.resource.kubernetes.io/";

}  // namespace

std::shared_ptr<FollowedDeviceClasses> FollowedDeviceClasses::make(Services& services, const Gates& gates) {
  const GroupVersionResource resource{"resource.k8s.io", "v1", "deviceclasses"};
  auto out = std::make_shared<FollowedDeviceClasses>();
  if (!gates.extended_resources_by_claim || !services.host().resource_enabled(resource)) return out;
  ResourceEventHandler handler;
  handler.on_add = [out](const ObjectRef& object, bool) { out->put(*object); };
  handler.on_update = [out](const ObjectRef&, const ObjectRef& now) { out->put(*now); };
  handler.on_delete = [out](const ObjectRef& last, bool) { out->remove(*last); };
  services.lister(resource).informer()->add_event_handler(std::move(handler));
  return out;
}

std::string FollowedDeviceClasses::extended_resource_of(std::string_view device_class) const {
  const std::lock_guard lock(mutex_);
  const auto found = resources_.find(device_class);
  return found == resources_.end() ? std::string() : found->second;
}

bool FollowedDeviceClasses::provides(std::string_view extended_resource) const {
  const std::lock_guard lock(mutex_);
  if (extended_resource.starts_with(kImplicitResources)) {
    return resources_.find(extended_resource.substr(kImplicitResources.size())) != resources_.end();
  }
  return std::any_of(resources_.begin(), resources_.end(), [&](const auto& each) { return each.second == extended_resource; });
}

void FollowedDeviceClasses::put(const ObjectEntry& device_class) {
  const Object object = decode(device_class, json::storage_ptr());
  std::string resource(get_string(object_or_empty(object, "spec"), "extendedResourceName"));
  const std::lock_guard lock(mutex_);
  resources_.insert_or_assign(std::string(device_class.name()), std::move(resource));
}

void FollowedDeviceClasses::remove(const ObjectEntry& device_class) {
  const std::lock_guard lock(mutex_);
  resources_.erase(std::string(device_class.name()));
}

}  // namespace backplane::admission::quota
