// The storages of one definition, made from it and kept until it changes.
//
// Thread-safety: immutable, but for `terminating`.
// Lifetime:      shared with the route table through the storages; the resource's cache goes with the last of them.
// Errors:        whatever the host or the schema engine says.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "custom_resource.hpp"
#include "custom_storage.hpp"

namespace backplane::apiextensions {

struct Installed {
  std::string made_from;  // uid, spec and accepted names: as long as these stay, so do the storages
  std::shared_ptr<const CustomResource> resource;
  std::shared_ptr<StandardStorage> store;  // of the stored version
  Terminating terminating;
  // Served version → path ("widgets", "widgets/status") → storage.
  std::map<std::string, std::map<std::string, std::shared_ptr<RestStorage>>> paths;
};
using InstalledRef = std::shared_ptr<const Installed>;

// What Installed::made_from would be for this definition.
std::string fingerprint(const Object& crd);
// `revision`: of the definition as read.
Result<InstalledRef> install_resource(Host& host, const Object& crd, Revision revision);

// All of them as API groups, versions in Kubernetes' order.
std::vector<APIGroupInfo> groups_of(const std::vector<InstalledRef>& all);

}  // namespace backplane::apiextensions
