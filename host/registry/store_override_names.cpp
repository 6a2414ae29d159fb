#include "registry/store_override_names.hpp"

#include <string>

namespace backplane {

std::vector<GroupResource> override_names(const CacheConfig& config) {
  const auto& [group, resource] = config.resource;
  if (config.prefix.ends_with("/" + group + "/" + resource + "/") && !group.empty()) return {};
  return {config.resource, {group, std::string(kWholeGroup)}};
}

}  // namespace backplane
