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

namespace backplane {

class EquivalentResourceTable final : public EquivalentResources {
 public:
  // Replaces what has been said before under `source`: a delegate for the groups it brings along, a group's name for one that came later.
  void set(const std::string& source, const std::vector<APIGroupInfo>& groups);
  std::vector<GroupVersionResource> equivalents_of(const GroupVersionResource& resource, std::string_view subresource) const override;
  GroupVersionKind kind_of(const GroupVersionResource& resource, std::string_view subresource) const override;

 private:
  struct Row {
    GroupVersionResource resource;
    GroupVersionKind kind;
    std::string identity;
  };
  using Key = std::pair<GroupVersionResource, std::string>;  // with its subresource

  mutable std::shared_mutex mutex_;
  std::map<std::string, std::vector<Key>> sources_;
  std::map<Key, Row> rows_;
  std::map<std::string, std::vector<Key>> by_identity_;
};

}  // namespace backplane
