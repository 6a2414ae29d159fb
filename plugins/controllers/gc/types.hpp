// The served types, from aggregated discovery: the resource of each kind that an owner reference may name, and the resources whose objects
// can be collected.
//
// Thread-safety: values; discover_types() on any executor.
// Errors:        kServiceUnavailable if discovery fails. A group version whose server does not respond is listed as stale.
// Source:        GetDeletableResources of k8s.io/kubernetes/pkg/controller/garbagecollector.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/net/client.hpp"

namespace backplane::controllers {

struct ServedType {
  GroupVersionResource resource;
  std::string kind;
  bool namespaced = false;
};

// A resource that can be deleted, listed and watched.
struct Collectable {
  std::vector<ServedType> versions;  // in the order of preference
};

struct ServedTypes {
  std::map<std::string, ServedType, std::less<>> by_type;  // "apps/v1 Deployment"
  std::map<GroupResource, Collectable> collectable;
  std::set<std::string> stale_groups;

  const ServedType* find(std::string_view type) const {
    const auto found = by_type.find(type);
    return found == by_type.end() ? nullptr : &found->second;
  }
};

Task<Result<ServedTypes>> discover_types(ApiClient api);

}  // namespace backplane::controllers
