// Storages of a kind whose plugin does not run: objects are read and deleted as they are stored. A write that changes finalizers or owners
// only is allowed, because the deletion of an object may wait for them; every other write gets 503 PluginUnavailable, before conflicts
// with the stored object are computed.
//
// Thread-safety: every method from any executor.
// Lifetime:      shared with the route table.
// Errors:        kPluginUnavailable, with the header Retry-After.
#pragma once

#include <memory>
#include <string>

#include "backplane/rest/standard_storage.hpp"
#include "plugin/group_snapshot.hpp"

namespace backplane {

// The reason why a plugin does not run, and how to fix it.
struct PluginAbsence {
  std::string plugin, why, fix;
  bool operator==(const PluginAbsence&) const = default;
  // `plugin "acme.io/widgets" is not available: …; …`
  std::string text() const;
};
using PluginAbsenceRef = std::shared_ptr<const PluginAbsence>;

// `store`: the storage of the stored version.
std::shared_ptr<RestStorage> make_retained_storage(std::shared_ptr<StandardStorage> store, PluginAbsenceRef absence,
                                                   const KindSnapshot& kind);
// A storage with the roles that were recorded. If the subresource has the kind of the resource, reads return the object. All other
// requests are refused, whatever their media types and bodies.
std::shared_ptr<RestStorage> make_retained_subresource(std::shared_ptr<StandardStorage> store, PluginAbsenceRef absence,
                                                       const KindSnapshot& kind, const SubresourceSnapshot& subresource);

}  // namespace backplane
