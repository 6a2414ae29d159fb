// Finds resources that serve the same objects: resources whose objects are stored as one kind.
//
// Thread-safety: every method from any thread; readers do not wait for one another.
// Lifetime:      holds names only, no storage.
#pragma once

#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

#include "backplane/host.hpp"
#include "backplane/points/admission.hpp"
#include "backplane/rest/api_group.hpp"

namespace backplane {

class EquivalentResourceTable final : public EquivalentResources {
 public:
  // A resource or subresource, and the kind of its objects. `identity` is equal for all resources that serve the same objects.
  struct Row {
    GroupVersionResource resource;
    std::string subresource;
    GroupVersionKind kind;
    std::string identity;
  };
  // All rows of a source. They replace its former rows; no rows: the source is removed.
  struct SourceRows {
    std::string source;
    std::vector<Row> rows;
  };

  // Replaces the rows of a delegate by those of its groups.
  void set(const std::string& delegate, const std::vector<APIGroupInfo>& groups);
  // For resources that are added and removed at run time: names_of() returns the rows of a change, one source for each resource; apply()
  // publishes them.
  static std::vector<SourceRows> names_of(const GroupsChange& change);
  void apply(std::vector<SourceRows> changes);
  std::vector<GroupVersionResource> equivalents_of(const GroupVersionResource& resource, std::string_view subresource) const override;
  GroupVersionKind kind_of(const GroupVersionResource& resource, std::string_view subresource) const override;

 private:
  using Key = std::pair<GroupVersionResource, std::string>;  // with its subresource
  struct Known {
    GroupVersionKind kind;
    std::string identity;
  };
  void forget(const std::string& source);

  mutable std::shared_mutex mutex_;
  std::map<std::string, std::vector<Key>> sources_;
  using Rows = std::map<Key, Known>;
  void forget(Rows::iterator row);
  Rows rows_;
  std::map<std::string, std::vector<const Key*>> by_identity_;  // keys of rows_
};

}  // namespace backplane
