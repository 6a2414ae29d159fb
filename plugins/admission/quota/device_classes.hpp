// The extended resources of device classes, followed by an informer.
//
// Thread-safety: any thread.
// Lifetime:      the informer's handler keeps the table alive.
// Errors:        none.
// Source:        k8s.io/dynamic-resource-allocation/deviceclass/extendedresourcecache.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "common/services.hpp"
#include "quota/evaluators.hpp"

namespace backplane::admission::quota {

class FollowedDeviceClasses final : public DeviceClasses {
 public:
  // A table that an informer keeps current, or an empty table if the gates are off or the resource is not served.
  static std::shared_ptr<FollowedDeviceClasses> make(Services& services, const Gates& gates);
  std::string extended_resource_of(std::string_view device_class) const override;
  bool provides(std::string_view extended_resource) const override;

  void put(const ObjectEntry& device_class);
  void remove(const ObjectEntry& device_class);

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string, std::less<>> resources_;  // extended resources by class; empty: the class declares none
};

}  // namespace backplane::admission::quota
