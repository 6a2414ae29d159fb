// GroupsEditor applies a GroupsChange to the served groups, and produces a new map of groups.
//
// Thread-safety: one thread.
// Lifetime:      borrows the arguments of its constructor until finish().
// Errors:        apply() returns kAlreadyExists if another delegate serves a group version. The editor must not be used after that.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "routing/route_table.hpp"

namespace backplane {

class GroupsEditor {
 public:
  GroupsEditor(const PersistentMap<GroupRef>& groups, const std::string& delegate, const HandlerFactory& handler_of)
      : groups_(groups), delegate_(delegate), handler_of_(handler_of) {}

  Status apply(const GroupsChange& change);
  // Returns the new groups. Adds the added and removed group versions to `change`.
  PersistentMap<GroupRef> finish(GroupVersionsChange& change);

 private:
  // The changes of one version of a group.
  struct Draft {
    VersionRef before;   // the version in the former groups; null: the version was not served
    VersionRef local;    // the version as this server itself serves it; null: it does not
    VersionRef forward;  // the version as it is forwarded to another server; takes precedence over `local`
    std::optional<Rows> rows;
    int group_priority = 0;
    int version_priority = 0;
    bool forward_changed = false;
  };
  struct GroupDraft {
    GroupRef before;
    std::map<std::string, Draft> versions;
  };

  Status put(const PublishedResource& resource);
  void remove(const std::string& group, const std::string& resource);
  Status forward(const ForwardedVersion& version);
  void withdraw(const GroupVersion& version);

  GroupDraft& draft_of(const std::string& group);
  bool is_ours(const VersionRef& version) const { return version && version->dynamic && version->delegate == delegate_; }
  Status taken(const GroupVersion& version, const VersionTable& other) const;
  VersionRef finished(const GroupVersion& version, Draft& draft) const;
  GroupRef finished(const std::string& name, GroupDraft& draft, GroupVersionsChange& change) const;

  const PersistentMap<GroupRef>& groups_;
  const std::string& delegate_;
  const HandlerFactory& handler_of_;
  std::map<std::string, GroupDraft> drafts_;
};

// Sorts the versions by priority, and sets the group's `priority` and `dynamic`.
void update_group(GroupEntry& entry);
GroupVersionInfo info_of(const VersionTable& version);

}  // namespace backplane
