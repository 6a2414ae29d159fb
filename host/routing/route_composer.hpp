// Makes the route table of a delegation chain from the former table. The new table shares the rows of delegates that stay in the chain, and
// keeps the rows that these delegates have published at run time.
//
// Thread-safety: one thread.
// Lifetime:      borrows the arguments of its constructor until finish().
// Errors:        kAlreadyExists if two delegates serve the same path or group version; the message names the first delegate. The composer
//                must not be used after that.
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
  // Adds a delegate. Called for the delegates of the chain from front to back. `stays`: the table `before` was composed with the same
  // target.
  Status add(const DelegationTarget& target, bool stays, const HandlerFactory& handler_of);
  // Keeps the rows of the former table that were published at run time. Called after the last add().
  Status take_over_published();
  FixedPaths& paths() noexcept { return *paths_; }
  // Returns the new table. Adds the added and removed group versions to `change`.
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
  std::string front_;  // the name of the first delegate
};

}  // namespace backplane
