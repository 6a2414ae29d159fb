#include "routing/groups_editor.hpp"

#include <algorithm>

namespace backplane {

void update_group(GroupEntry& entry) {
  std::stable_sort(entry.versions.begin(), entry.versions.end(), [](const VersionRef& a, const VersionRef& b) {
    if (a->version_priority != b->version_priority) return a->version_priority > b->version_priority;
    return version_precedes(a->version.version, b->version.version);
  });
  entry.priority = 0;
  entry.dynamic = true;
  for (const VersionRef& version : entry.versions) {
    entry.priority = std::max(entry.priority, version->group_priority);
    entry.dynamic = entry.dynamic && version->dynamic;
  }
}

GroupVersionInfo info_of(const VersionTable& version) {
  return {version.version, version.group_priority, version.version_priority, version.delegate, version.dynamic, version.forward != nullptr};
}

Status GroupsEditor::apply(const GroupsChange& change) {
  for (const GroupResource& gone : change.removed) remove(gone.group, gone.resource);
  for (const GroupVersion& gone : change.withdrawn) withdraw(gone);
  for (const PublishedResource& resource : change.put) {
    Status status = put(resource);
    if (!status.ok()) return status;
  }
  for (const ForwardedVersion& version : change.forwarded) {
    Status status = forward(version);
    if (!status.ok()) return status;
  }
  return {};
}

GroupsEditor::GroupDraft& GroupsEditor::draft_of(const std::string& group) {
  auto [it, added] = drafts_.try_emplace(group);
  GroupDraft& draft = it->second;
  if (!added) return draft;
  if (const GroupRef* before = groups_.find(group)) draft.before = *before;
  if (!draft.before) return draft;
  for (const VersionRef& version : draft.before->versions) {
    Draft& each = draft.versions[version->version.version];
    each.before = version;
    each.local = version->forward ? version->local : version;
    if (version->forward) each.forward = version;
  }
  return draft;
}

Status GroupsEditor::taken(const GroupVersion& version, const VersionTable& other) const {
  return Status(Reason::kAlreadyExists, "group version " + version.to_string() + " is served by plugin " + quoted(other.delegate) +
                                            " already; plugin " + quoted(delegate_) + " cannot serve it too");
}

Status GroupsEditor::put(const PublishedResource& resource) {
  remove(resource.group, resource.resource);
  GroupDraft& group = draft_of(resource.group);
  for (const PublishedResource::Version& given : resource.versions) {
    const GroupVersion version{resource.group, given.version};
    Draft& draft = group.versions[given.version];
    if (draft.local && !is_ours(draft.local)) return taken(version, *draft.local);
    if (!draft.rows) draft.rows = draft.local ? draft.local->rows : Rows();
    draft.rows = with_rows(std::move(*draft.rows), version, given.storages, given.schemas, resource.identity, handler_of_, true);
    draft.group_priority = resource.group_priority_minimum;
    draft.version_priority = resource.version_priority;
  }
  return {};
}

void GroupsEditor::remove(const std::string& group, const std::string& resource) {
  for (auto& [name, draft] : draft_of(group).versions) {
    if (!draft.rows && !is_ours(draft.local)) continue;
    const Rows& rows = draft.rows ? *draft.rows : draft.local->rows;
    if (rows.find(resource) == nullptr) continue;
    draft.rows = without_resource(rows, resource);
    if (draft.version_priority != 0 || !draft.local) continue;
    draft.group_priority = draft.local->group_priority;
    draft.version_priority = draft.local->version_priority;
  }
}

Status GroupsEditor::forward(const ForwardedVersion& version) {
  Draft& draft = draft_of(version.group_version.group).versions[version.group_version.version];
  if (draft.forward && draft.forward->delegate != delegate_) return taken(version.group_version, *draft.forward);
  auto table = std::make_shared<VersionTable>();
  table->version = version.group_version;
  table->delegate = delegate_;
  table->group_priority = version.group_priority_minimum;
  table->version_priority = version.version_priority;
  table->dynamic = true;
  table->forward = version.handler;
  table->forwarded_documents = version.documents;
  draft.forward = std::move(table);
  draft.forward_changed = true;
  return {};
}

void GroupsEditor::withdraw(const GroupVersion& version) {
  GroupDraft& group = draft_of(version.group);
  const auto found = group.versions.find(version.version);
  if (found == group.versions.end() || !found->second.forward || found->second.forward->delegate != delegate_) return;
  found->second.forward = nullptr;
  found->second.forward_changed = true;
}

VersionRef GroupsEditor::finished(const GroupVersion& version, Draft& draft) const {
  if (!draft.rows && !draft.forward_changed) return draft.before;
  VersionRef local = draft.local;
  if (draft.rows) {
    local = nullptr;
    if (!draft.rows->empty()) {
      auto table = std::make_shared<VersionTable>();
      table->version = version;
      table->delegate = delegate_;
      table->group_priority = draft.group_priority;
      table->version_priority = draft.version_priority;
      table->dynamic = true;
      table->rows = std::move(*draft.rows);
      local = std::move(table);
    }
  }
  if (!draft.forward) return local;
  auto table = std::make_shared<VersionTable>();
  table->version = version;
  table->delegate = draft.forward->delegate;
  table->group_priority = draft.forward->group_priority;
  table->version_priority = draft.forward->version_priority;
  table->dynamic = true;
  table->forward = draft.forward->forward;
  table->forwarded_documents = draft.forward->forwarded_documents;
  table->local = std::move(local);
  return table;
}

GroupRef GroupsEditor::finished(const std::string& name, GroupDraft& draft, GroupVersionsChange& change) const {
  auto entry = std::make_shared<GroupEntry>();
  entry->name = name;
  entry->answers_for_all_delegates = draft.before && draft.before->answers_for_all_delegates;
  bool changed = false;
  for (auto& [version_name, each] : draft.versions) {
    const GroupVersion version{name, version_name};
    const VersionRef now = finished(version, each);
    changed = changed || now != each.before;
    if (!now && each.before) change.gone.push_back(version);
    if (!now) continue;
    entry->versions.push_back(now);
    if (now != each.before) change.served.push_back(info_of(*now));
  }
  if (!changed) return draft.before;
  if (entry->versions.empty()) return nullptr;
  update_group(*entry);
  return entry;
}

PersistentMap<GroupRef> GroupsEditor::finish(GroupVersionsChange& change) {
  PersistentMap<GroupRef> groups = groups_;
  for (auto& [name, draft] : drafts_) {
    const GroupRef before = draft.before;
    GroupRef now = finished(name, draft, change);
    if (now == before) continue;
    groups = now ? groups.with(name, std::move(now)) : groups.without(name);
  }
  return groups;
}

}  // namespace backplane
