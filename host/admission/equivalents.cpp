#include "admission/equivalents.hpp"

#include <algorithm>

namespace backplane {
namespace {

// What the objects of a path are stored as; a subresource is its resource's.
std::string identity_of(const APIGroupInfo& group, const std::string& version, const std::string& path) {
  const std::string resource = path.substr(0, path.find('/'));
  const auto& storages = group.storages.at(version);
  const auto parent = storages.find(resource);
  if (parent != storages.end()) {
    if (const auto* stored = dynamic_cast<const StorageVersionProvider*>(parent->second.get())) {
      const GroupVersionKind kind = stored->storage_version();
      return kind.group + "/" + kind.kind + path.substr(resource.size());
    }
  }
  return group.group + "/" + path;
}

}  // namespace

void EquivalentResourceTable::set(const std::string& source, const std::vector<APIGroupInfo>& groups) {
  std::unique_lock lock(mutex_);
  std::vector<Key>& own = sources_[source];
  for (const Key& key : own) {
    const auto row = rows_.find(key);
    if (row == rows_.end()) continue;
    auto& same = by_identity_[row->second.identity];
    std::erase(same, key);
    if (same.empty()) by_identity_.erase(row->second.identity);
    rows_.erase(row);
  }
  own.clear();
  for (const auto& group : groups) {
    for (const auto& version : group.prioritized_versions) {
      const auto storages = group.storages.find(version);
      if (storages == group.storages.end()) continue;
      for (const auto& [path, storage] : storages->second) {
        const auto slash = path.find('/');
        const Key key{{group.group, version, path.substr(0, slash)}, slash == std::string::npos ? "" : path.substr(slash + 1)};
        Row row{key.first, storage->kind(), identity_of(group, version, path)};
        by_identity_[row.identity].push_back(key);
        rows_.insert_or_assign(key, std::move(row));
        own.push_back(key);
      }
    }
  }
}

std::vector<GroupVersionResource> EquivalentResourceTable::equivalents_of(const GroupVersionResource& resource,
                                                                          std::string_view subresource) const {
  std::shared_lock lock(mutex_);
  std::vector<GroupVersionResource> out;
  const auto row = rows_.find({resource, std::string(subresource)});
  if (row == rows_.end()) return {resource};
  for (const Key& key : by_identity_.at(row->second.identity)) out.push_back(key.first);
  return out;
}

GroupVersionKind EquivalentResourceTable::kind_of(const GroupVersionResource& resource, std::string_view subresource) const {
  std::shared_lock lock(mutex_);
  const auto row = rows_.find({resource, std::string(subresource)});
  return row == rows_.end() ? GroupVersionKind() : row->second.kind;
}

}  // namespace backplane
