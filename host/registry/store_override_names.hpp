// The names under which --etcd-servers-overrides can select another store for a resource.
//
// Thread-safety: pure functions.
#pragma once

#include <string_view>
#include <vector>

#include "watchcache/resource_cache.hpp"

namespace backplane {

// The resource name that selects all resources of a group.
inline constexpr std::string_view kWholeGroup = "*";

// The names in the order of precedence: the resource, then its group. Empty for resources of apiextensions and of the aggregator
// (definitions, custom resources, APIServices), whose keys begin with group and resource: as in kube-apiserver, they always use the main
// store.
std::vector<GroupResource> override_names(const CacheConfig& config);

}  // namespace backplane
