// Makes the route table of a delegation chain from the former table: shares the rows of delegates that stay in the chain, and takes over
// rows that were published at run time.
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
  // Called front to back. `stays`: `before` was composed with the same target.
  Status add(const DelegationTarget& target, bool stays, const HandlerFactory& handler_of);
  // Takes over the rows that the delegates of the chain have published at run time. Call it after the last add().
  Status take_over_published();
  FixedPaths& paths() noexcept { return *paths_; }
  // The table. `change`: receives the added and removed group versions.
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
