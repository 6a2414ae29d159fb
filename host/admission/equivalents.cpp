#include "admission/equivalents.hpp"

#include <algorithm>

#include "backplane/rest/roles.hpp"

namespace backplane {
namespace {

using Storages = std::map<std::string, std::shared_ptr<RestStorage>>;

// Returns a text that identifies the stored kind of the objects. A subresource has the kind of its resource, and its own path.
std::string identity_of(const std::string& group, const Storages& storages, const std::string& path) {
  const std::string resource = path.substr(0, path.find('/'));
  const auto parent = storages.find(resource);
  if (parent != storages.end()) {
    if (const auto* stored = role_of<StorageVersionProvider>(parent->second)) {
      const GroupVersionKind kind = stored->storage_version();
      return kind.group + "/" + kind.kind + path.substr(resource.size());
    }
  }
  return group + "/" + path;
}

void add_rows(std::vector<EquivalentResourceTable::Row>& rows, const GroupVersion& version, const Storages& storages) {
  for (const auto& [path, storage] : storages) {
    const auto slash = path.find('/');
    rows.push_back({{version.group, version.version, path.substr(0, slash)},
                    slash == std::string::npos ? "" : path.substr(slash + 1),
                    storage->kind(),
                    identity_of(version.group, storages, path)});
  }
}

// The prefix distinguishes the source from names of delegates.
std::string source_of(const GroupResource& resource) { return "resource/" + resource.to_string(); }

}  // namespace

void EquivalentResourceTable::set(const std::string& delegate, const std::vector<APIGroupInfo>& groups) {
  SourceRows source_rows{delegate, {}};
  for (const auto& group : groups) {
    for (const auto& version : group.prioritized_versions) {
      const auto storages = group.storages.find(version);
      if (storages != group.storages.end()) add_rows(source_rows.rows, {group.group, version}, storages->second);
    }
  }
  apply({std::move(source_rows)});
}

std::vector<EquivalentResourceTable::SourceRows> EquivalentResourceTable::names_of(const GroupsChange& change) {
  std::vector<SourceRows> all;
  for (const GroupResource& resource : change.removed) all.push_back({source_of(resource), {}});
  for (const PublishedResource& resource : change.put) {
    SourceRows source_rows{source_of({resource.group, resource.resource}), {}};
    for (const auto& version : resource.versions) add_rows(source_rows.rows, {resource.group, version.version}, version.storages);
    all.push_back(std::move(source_rows));
  }
  return all;
}

void EquivalentResourceTable::apply(std::vector<SourceRows> source_rows) {
  const std::unique_lock lock(mutex_);
  for (SourceRows& each : source_rows) {
    forget(each.source);
    if (each.rows.empty()) continue;
    std::vector<Key>& own = sources_[each.source];
    for (Row& row : each.rows) {
      own.push_back({std::move(row.resource), std::move(row.subresource)});
      if (const auto before = rows_.find(own.back()); before != rows_.end()) forget(before);
      std::vector<const Key*>& same = by_identity_[row.identity];
      same.push_back(&rows_.emplace(own.back(), Known{std::move(row.kind), std::move(row.identity)}).first->first);
    }
  }
}

void EquivalentResourceTable::forget(const std::string& source) {
  const auto own = sources_.find(source);
  if (own == sources_.end()) return;
  for (const Key& key : own->second) {
    if (const auto row = rows_.find(key); row != rows_.end()) forget(row);
  }
  sources_.erase(own);
}

void EquivalentResourceTable::forget(Rows::iterator row) {
  const auto same = by_identity_.find(row->second.identity);
  std::erase(same->second, &row->first);
  if (same->second.empty()) by_identity_.erase(same);
  rows_.erase(row);
}

std::vector<GroupVersionResource> EquivalentResourceTable::equivalents_of(const GroupVersionResource& resource,
                                                                          std::string_view subresource) const {
  std::shared_lock lock(mutex_);
  std::vector<GroupVersionResource> out;
  const auto row = rows_.find({resource, std::string(subresource)});
  if (row == rows_.end()) return {resource};
  for (const Key* key : by_identity_.at(row->second.identity)) out.push_back(key->first);
  return out;
}

GroupVersionKind EquivalentResourceTable::kind_of(const GroupVersionResource& resource, std::string_view subresource) const {
  std::shared_lock lock(mutex_);
  const auto row = rows_.find({resource, std::string(subresource)});
  return row == rows_.end() ? GroupVersionKind() : row->second.kind;
}

}  // namespace backplane
