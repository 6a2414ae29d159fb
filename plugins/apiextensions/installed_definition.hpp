// The storages of one definition, made from it and retained until it changes.
//
// Thread-safety: immutable, except `stores`, `writes`, `source` and `watches`, which any thread may use.
// Lifetime:      shared with the route table through the storages; the last reference releases the resource's cache.
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
  std::string identity;  // uid, hash of the spec, accepted names: if they are unchanged, the storages are retained
  std::shared_ptr<const CustomResource> resource;
  std::shared_ptr<SchemaSource> source;
  std::shared_ptr<Stores> stores;
  std::shared_ptr<Writes> writes;  // the writes of the definition in all its revisions
  std::shared_ptr<Watches> watches;
  // Served version → path ("widgets", "widgets/status") → storage.
  std::map<std::string, std::map<std::string, std::shared_ptr<RestStorage>>> paths;
};
using InstalledDefinitionRef = std::shared_ptr<const InstalledDefinition>;

// InstalledDefinition::identity of this definition.
std::string identity_of(const Object& crd);
// `entry`: the stored object of `crd`. `before`: the former installation of the definition, or null; if it is null, objects up to the
// revision `newest` may have been stored by an older schema.
Result<InstalledDefinitionRef> install_resource(Host& host, const std::shared_ptr<ServiceResolver>& services, const Object& crd,
                                                ObjectRef entry, const InstalledDefinition* before, Revision newest);
// The resource and its storages, for publication through DynamicGroups.
PublishedResource published(const InstalledDefinition& installed);

}  // namespace backplane::apiextensions
