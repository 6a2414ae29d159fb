// Which resources are the same objects: those whose objects are stored as one kind.
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
  // A name of a resource or subresource, what its objects are, and what stands for the objects themselves.
  struct Row {
    GroupVersionResource resource;
    std::string subresource;
    GroupVersionKind kind;
    std::string identity;
  };
  // What is said under a source, in place of what was said before; nothing: it has gone.
  struct Said {
    std::string source;
    std::vector<Row> rows;
  };

  // The groups that a delegate brings along.
  void set(const std::string& delegate, const std::vector<APIGroupInfo>& groups);
  // Resources that come and go at run time, each a source of its own: what a change says, and the change once it has been made.
  static std::vector<Said> names_of(const GroupsChange& change);
  void apply(std::vector<Said> said);
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
