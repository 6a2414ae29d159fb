// The storages of one definition, made from it and kept until it changes.
//
// Thread-safety: immutable, but for `stores`, `writes`, `source` and `watches`, which any thread may use.
// Lifetime:      shared with the route table through the storages; the resource's cache goes with the last of them.
// Errors:        the host's.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "backplane/rest/api_group.hpp"
#include "custom_resource.hpp"
#include "custom_storage.hpp"
#include "stores.hpp"

namespace backplane::apiextensions {

struct InstalledDefinition {
  std::string identity;  // uid, hash of the spec, accepted names: as long as these stay, so do the storages
  std::shared_ptr<const CustomResource> resource;
  std::shared_ptr<SchemaSource> source;
  std::shared_ptr<Stores> stores;
  std::shared_ptr<Writes> writes;  // of the definition, in all its revisions
  std::shared_ptr<Watches> watches;
  // Served version → path ("widgets", "widgets/status") → storage.
  std::map<std::string, std::map<std::string, std::shared_ptr<RestStorage>>> paths;
};
using InstalledDefinitionRef = std::shared_ptr<const InstalledDefinition>;

// InstalledDefinition::identity of this definition.
std::string identity_of(const Object& crd);
// `entry`: the stored form of `crd`.  `before`: what the definition was installed as until now, or null.  Without one, objects up to the
// revision `newest` may be from before a change.
Result<InstalledDefinitionRef> install_resource(Host& host, const std::shared_ptr<ServiceResolver>& services, const Object& crd,
                                                ObjectRef entry, const InstalledDefinition* before, Revision newest);
// As it is published.
PublishedResource published(const InstalledDefinition& installed);

}  // namespace backplane::apiextensions
