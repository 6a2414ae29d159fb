// By which names the store of a resource may be chosen (--etcd-servers-overrides).
//
// Thread-safety: pure functions.
#pragma once

#include <string_view>
#include <vector>

#include "watchcache/resource_cache.hpp"

namespace backplane {

// In place of a resource's name: all of the group.
inline constexpr std::string_view kWholeGroup = "*";

// The nearest first: the resource, then its group.  None where keys begin with group and resource: that is how the servers within
// kube-apiserver keep what is theirs (definitions, what they define, APIServices), and those know of one store only.
std::vector<GroupResource> override_names(const CacheConfig& config);

}  // namespace backplane
