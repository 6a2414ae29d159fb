#include "registry/places.hpp"

#include <string>

namespace backplane {

std::vector<GroupResource> names_of_place(const CacheConfig& config) {
  const auto& [group, resource] = config.resource;
  if (config.prefix.ends_with("/" + group + "/" + resource + "/") && !group.empty()) return {};
  return {config.resource, {group, std::string(kWholeGroup)}};
}

}  // namespace backplane
