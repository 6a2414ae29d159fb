// The route table of a delegation chain, made from the one before: what a delegate that stays has registered is shared with it, what has
// been published at run time is taken over.
//
// Thread-safety: one thread.
// Lifetime:      borrows what it is made from until finish().
// Errors:        kAlreadyExists when two delegates serve the same path or group version, naming the first; the composer is dropped then.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "routing/route_table.hpp"
#include "routing/router.hpp"

namespace backplane {

class RouteComposer {
 public:
  RouteComposer(const RouterConfig& config, const RouteTable& before) : config_(config), before_(before) {}

  Status add_paths(const std::vector<PathRoute>& routes, const std::string& registrant);
  // Front to back.  `stays`: `before` was composed with this very target.
  Status add(const DelegationTarget& target, bool stays, const HandlerFactory& handler_of);
  // After the last add(): what the delegates of the chain have published at run time.
  Status take_over_published();
  FixedPaths& paths() noexcept { return *paths_; }
  // The table, and what it means for the group versions.
  std::shared_ptr<RouteTable> finish(GroupVersionsChange& change);

 private:
  std::vector<VersionRef> versions_of(const APIGroupInfo& group, const DelegationTarget& target, bool stays,
                                      const HandlerFactory& handler_of) const;
  Status take_over(GroupEntry& entry, const VersionRef& version);
  GroupRef finished(const std::string& name, std::shared_ptr<GroupEntry> entry) const;

  const RouterConfig& config_;
  const RouteTable& before_;
  std::shared_ptr<FixedPaths> paths_ = std::make_shared<FixedPaths>();
  std::map<std::string, std::shared_ptr<GroupEntry>> groups_;
  std::string front_;  // the foremost delegate
};

}  // namespace backplane
