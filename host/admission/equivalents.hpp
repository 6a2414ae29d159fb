// Finds the resources that serve the same objects, i.e. whose objects are stored as the same kind.
//
// Thread-safety: any thread. Readers do not block each other.
// Lifetime:      has only names, and no reference to a storage.
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
  // A resource or subresource, and the kind of its objects. All resources that serve the same objects have the same `identity`.
  struct Row {
    GroupVersionResource resource;
    std::string subresource;
    GroupVersionKind kind;
    std::string identity;
  };
  // All rows of a source: a delegate, or a resource that was published at run time. They replace the former rows of the source. If there
  // are none, the source is removed.
  struct SourceRows {
    std::string source;
    std::vector<Row> rows;
  };

  // Replaces the rows of a delegate by the resources of `groups`.
  void set(const std::string& delegate, const std::vector<APIGroupInfo>& groups);
  // For resources that are published at run time. names_of() returns the rows of a change, with a source for each resource. apply() puts
  // rows into the table.
  static std::vector<SourceRows> names_of(const GroupsChange& change);
  void apply(std::vector<SourceRows> changes);
  std::vector<GroupVersionResource> equivalents_of(const GroupVersionResource& resource, std::string_view subresource) const override;
  GroupVersionKind kind_of(const GroupVersionResource& resource, std::string_view subresource) const override;

 private:
  using Key = std::pair<GroupVersionResource, std::string>;  // a resource and its subresource
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
  std::map<std::string, std::vector<const Key*>> by_identity_;  // points to keys of rows_
};

}  // namespace backplane
