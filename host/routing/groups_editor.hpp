// What a GroupsChange makes of the groups that are served.
//
// Thread-safety: one thread.
// Lifetime:      borrows what it is made from until finish().
// Errors:        kAlreadyExists when another delegate serves a group version; the editor is thrown away then.
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
  // The groups as they are then, and what that means for the group versions.
  PersistentMap<GroupRef> finish(GroupVersionsChange& change);

 private:
  // One version of a group that is being changed.
  struct Draft {
    VersionRef before;   // as it is listed; null: it was not
    VersionRef local;    // served from here
    VersionRef forward;  // takes precedence over it
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

// Sorts the versions and sets what follows from them.
void settle_group(GroupEntry& entry);
GroupVersionInfo info_of(const VersionTable& version);

}  // namespace backplane
