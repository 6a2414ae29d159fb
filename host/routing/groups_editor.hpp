// Applies a GroupsChange to the served groups.
//
// Thread-safety: one thread.
// Lifetime:      borrows what it is made from until finish().
// Errors:        kAlreadyExists if another delegate serves a group version; the editor must then be dropped.
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
  // The new groups. `change`: receives the added and removed group versions.
  PersistentMap<GroupRef> finish(GroupVersionsChange& change);

 private:
  // One version of a group that is being changed.
  struct Draft {
    VersionRef before;   // in the former groups; null: it was not served
    VersionRef local;    // served by this server
    VersionRef forward;  // a forwarded version, which takes precedence over `local`
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

// Sorts the versions and sets the members that depend on them.
void settle_group(GroupEntry& entry);
GroupVersionInfo info_of(const VersionTable& version);

}  // namespace backplane
